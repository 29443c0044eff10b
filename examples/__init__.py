"""How to look into networks of other libraries. Nothing of the app needs this folder."""
