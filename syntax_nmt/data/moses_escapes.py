"""Characters that Moses writes as escapes, apart from the tokeniser itself, which loads slowly."""

# `&amp;` comes last, for who replaces one after another: `&amp;lt;` is the text `&lt;`.
MOSES_ESCAPES = {
    "&bar;": "|",
    "&#124;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&bra;": "[",
    "&#91;": "[",
    "&ket;": "]",
    "&#93;": "]",
    "&amp;": "&",
}
