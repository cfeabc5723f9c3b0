"""The engine, one verb a file. Each takes a connection, opens no transaction, and says one SQL function."""
