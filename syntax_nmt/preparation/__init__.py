"""Raw parallel text to a data-bin folder with annotation."""
