"""Bridges to other libraries; the only room that names them."""
