"""No models: Awa's tables are made by `awa migrate`. Django tells only apps with this module that it has migrated."""
