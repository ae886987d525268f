"""What is compiled: laws, maps, and the table that names them."""
