"""Packaging of syntax_nmt; tool settings are in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
PACKAGE = (HERE / "syntax_nmt/__init__.py").read_text("utf-8")
(VERSION,) = re.findall('__version__ = "(.+)"', PACKAGE)

setup(
    name="syntax-nmt",
    version=VERSION,
    description="Phrases and syntax in neural machine translation: a plugin suite for fairseq",
    long_description=(HERE / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    license_files=["LICENSE"],
    keywords="neural machine translation, fairseq, syntax, dependency parsing, phrase structure",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
    ],
    python_requires=">=3.10,<3.14",
    # The recipes of preprocess/ and the examples are installed inside the package for who has no
    # checkout.
    package_dir={
        "syntax_nmt": "syntax_nmt",
        "syntax_nmt.examples": "examples",
        "syntax_nmt.preprocess": "preprocess",
    },
    packages=[
        *find_packages(include=["syntax_nmt", "syntax_nmt.*"]),
        "syntax_nmt.examples",
        "syntax_nmt.preprocess",
    ],
    package_data={
        "syntax_nmt": ["py.typed"],  # type checkers read the annotations of installed code
        "syntax_nmt.preprocess": ["*.sh"],
        "syntax_nmt.examples": [
            *(f"**/*.{ending}" for ending in ("sh", "ipynb", "md", "yaml", "py")),
            "experiments/Snakefile",
        ],
        "syntax_nmt.pictures.report_page": ["templates/*"],
        "syntax_nmt.serve": ["page/*"],
    },
    install_requires=[
        "fairseq-fixed>=0.12.3.1",  # fairseq's main branch, repackaged
        "torch>=2.6",  # older ones load checkpoints that run code
        "jinja2>=3.1",
        "matplotlib>=3.8",
        "numpy>=1.26",
        "regex>=2023.10.3",
        "sacrebleu>=2.3",
        "sacremoses>=0.2",  # older ones take quadratic time over a row of full stops
        "scipy>=1.11",
        "sentencepiece>=0.2",
        "stanza>=1.10",
        "tabulate>=0.9",
        "tensorboardX>=2.6",
        "tqdm>=4.66",
        "wcwidth>=0.2.13",  # of characters in terminals; tabulate aligns by it, too
    ],
    extras_require={
        "cluster": ["dask[distributed]>=2024.1"],
        "export": ["ctranslate2>=4.6"],  # syntax-nmt export --to ctranslate2
        "ja": ["sacrebleu[ja]"],  # --tokenize ja-mecab
        "docs": ["mkdocs-material>=9.6", "mkdocstrings-python>=1.16", "ruff>=0.15"],
        "experiments": ["jsonschema>=4.20", "snakemake>=9; python_version >= '3.11'"],
        "serve": ["starlette>=0.40", "uvicorn>=0.30"],
        "spacy": ["spacy>=3.7"],  # --parser spacy
        "udpipe": ["ufal.udpipe>=1.3"],  # --parser udpipe
        "test": [
            "ctranslate2>=4.6",
            "dask[distributed]>=2024.1",
            "filelock>=3.13",
            "jsonschema>=4.20",
            "mkdocs-material>=9.6",
            "mkdocstrings-python>=1.16",
            "mypy>=1.14",
            "nltk>=3.10.4",
            "pytest>=8",
            "pytest-xdist>=3.8",
            "ruff>=0.15",
            "snakemake>=9; python_version >= '3.11'",
            "spacy>=3.7",
            "starlette>=0.40",
            "ufal.udpipe>=1.3",
            "uvicorn>=0.30",
        ],
    },
    entry_points={"console_scripts": ["syntax-nmt = syntax_nmt.cli:main"]},
)
