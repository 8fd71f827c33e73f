"""The refund tools as an MCP server, recorded like its client."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer
from refund import TOOLS, record

record()

server = MCPServer("refund-tools")
for tool in TOOLS:
    server.tool()(tool)

if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
