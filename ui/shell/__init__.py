"""What all pages share: the address, the header, controls, messages, the style, and the turns that pages take."""
