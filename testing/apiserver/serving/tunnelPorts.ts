import { createWebSocketStream } from 'ws';
import { acceptWebSocket, PORT_FORWARD_PROTOCOL, TUNNEL_SUBPROTOCOL } from '../../../cri/streaming/webSocketCommand.ts';
import type { Forward } from '../connect/forward.ts';
import { headersFor } from './forwarding.ts';
import type { SendToNode } from './nodeClient.ts';
import { pipeBothWays } from './pipeBothWays.ts';
import { type Client, connectToNode, forwardResponse, spdyHeaders } from './upgradeClient.ts';

/** Tunnels a client's SPDY stream from WebSocket messages to the node (`streamtunnel.go` of apiserver). */
export async function tunnelPorts(sendToNode: SendToNode, forward: Forward, client: Client): Promise<void> {
  const { request, signal } = client;
  const headers = headersFor({}, request.socket.remoteAddress, spdyHeaders([PORT_FORWARD_PROTOCOL]));
  const nodeRequest = { method: 'POST', path: forward.path, headers, signal };
  const nodeResponse = await connectToNode(sendToNode, forward, nodeRequest, client);
  if (nodeResponse === undefined) return;
  const { response, socket, head: first } = nodeResponse;
  if (socket === undefined) return await forwardResponse(response, client);
  if (first.length > 0) socket.unshift(first);
  try {
    await pipeBothWays(createWebSocketStream(await acceptWebSocket(client, TUNNEL_SUBPROTOCOL)), socket);
  } finally {
    socket.destroy();
  }
}
