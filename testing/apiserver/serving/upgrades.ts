/** Forwards protocol upgrades to nodes (`registry/core/pod/rest/subresources.go`). */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { COMMAND_SUBPROTOCOL, offersSubprotocol, TUNNEL_SUBPROTOCOL } from '../../../cri/streaming/webSocketCommand.ts';
import type { Forward } from '../connect/forward.ts';
import { headersFor } from './forwarding.ts';
import type { SendToNode } from './nodeClient.ts';
import { pipeBothWays } from './pipeBothWays.ts';
import { type Client, connectToNode, forwardResponse } from './upgradeClient.ts';

/** Connects a client with a node, translating between their protocols if necessary. */
export async function forwardUpgrade(sendToNode: SendToNode, forward: Forward, client: Client): Promise<void> {
  const { headers } = client.request;
  if (!forward.node.speaksWebSockets) {
    if (forward.streams !== undefined && offersSubprotocol(client.request, COMMAND_SUBPROTOCOL)) {
      const { translateForNode } = await import('./translateCommand.ts');
      return await translateForNode(sendToNode, forward, client);
    }
    if (forward.kind === 'portforward' && offersSubprotocol(client.request, TUNNEL_SUBPROTOCOL)) {
      const { tunnelPorts } = await import('./tunnelPorts.ts');
      return await tunnelPorts(sendToNode, forward, client);
    }
  }
  const { request, signal } = client;
  const more: OutgoingHttpHeaders = { connection: 'Upgrade', upgrade: headers.upgrade ?? '', 'content-length': 0 };
  const own = headersFor({ ...headers, ...repeatedHeaders(request) }, request.socket.remoteAddress, more);
  const nodeRequest = { method: request.method ?? 'GET', path: forward.path, headers: own, signal };
  const nodeResponse = await connectToNode(sendToNode, forward, nodeRequest, client);
  if (nodeResponse === undefined) return;
  const { response, socket, head } = nodeResponse;
  if (socket === undefined) return await forwardResponse(response, client);
  const lines = [`HTTP/1.1 101 ${response.statusMessage}`];
  for (let at = 0; at < response.rawHeaders.length; at += 2)
    lines.push(`${response.rawHeaders[at]}: ${response.rawHeaders[at + 1]}`);
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  if (client.head.length > 0) client.socket.unshift(client.head);
  await pipeBothWays(client.socket, socket);
}

/** Node.js joins repeated headers, but the node expects a line for each. */
const repeatedHeaders = ({ headersDistinct }: IncomingMessage): Record<string, string[]> => {
  const versions = headersDistinct['x-stream-protocol-version'];
  return versions === undefined ? {} : { 'x-stream-protocol-version': versions };
};
