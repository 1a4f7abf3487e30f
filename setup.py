"""Packaging of syntax_nmt; tool settings are in pyproject.toml."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="syntax-nmt",
    version="0.1.0",
    description="Phrases and syntax in neural machine translation: a plugin suite for fairseq",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.9",
    # preprocess/ is a folder of its own beside the plugin, and syntax_nmt/preprocess a link to it:
    # each checkout imports its own, and type checkers see one package.
    packages=find_packages(include=["syntax_nmt", "syntax_nmt.*"]),
    package_data={
        "syntax_nmt.preprocess": ["*.sh"],
        "syntax_nmt.evaluation.report_page": ["templates/*"],
    },
    install_requires=[
        "fairseq-fixed>=0.12.3.1; python_version >= '3.11'",
        "fairseq>=0.12.2; python_version < '3.11'",
        "torch>=2.1",
        "jinja2>=3.0",
        "matplotlib>=3.5",
        "numpy",
        "regex",
        "sacrebleu>=2.0",
        "sacremoses>=0.1",
        "sentencepiece>=0.1.99",
        "stanza>=1.10",
        "tabulate",
        "tensorboardX",
        "tqdm",
    ],
    extras_require={
        "cluster": ["dask[distributed]"],
        "ja": ["sacrebleu[ja]"],  # --tokenize ja-mecab
        "experiments": ["jsonschema", "snakemake>=9; python_version >= '3.11'"],
        "test": [
            "dask[distributed]",
            "jsonschema",
            "mypy",
            "nltk>=3.8",
            "pytest",
            "pytest-xdist",
            "filelock",
            "ruff",
            "snakemake>=9; python_version >= '3.11'",
        ],
    },
    entry_points={"console_scripts": ["syntax-nmt = syntax_nmt.cli:main"]},
)
