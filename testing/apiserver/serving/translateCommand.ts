/**
 * Translates a command between a client with `v5.channel.k8s.io` over a WebSocket and a node that supports only SPDY
 * (`streamtranslator.go`).
 */
import { text } from 'node:stream/consumers';
import { SpdyConnection } from '../../../cri/streaming/spdyConnection.ts';
import { TRANSLATED_PROTOCOLS, translateCommand } from '../../../cri/streaming/webSocketCommand.ts';
import type { Forward } from '../connect/forward.ts';
import { headersFor } from './forwarding.ts';
import type { SendToNode } from './nodeClient.ts';
import { type Client, spdyHeaders } from './upgradeClient.ts';

const NO_STREAMS = { stdin: false, stdout: false, stderr: false, tty: false };

export async function translateForNode(
  sendToNode: SendToNode,
  { node, path, streams = NO_STREAMS }: Forward,
  client: Client,
): Promise<void> {
  const { request, signal } = client;
  await translateCommand(client, streams, async () => {
    const headers = headersFor({}, request.socket.remoteAddress, spdyHeaders(TRANSLATED_PROTOCOLS));
    const { response, socket, head } = await sendToNode(node, { method: 'POST', path, headers, signal });
    if (socket === undefined) throw new Error(`unable to upgrade connection: ${(await text(response)).trim()}`);
    if (head.length > 0) socket.unshift(head);
    return new SpdyConnection(socket, { role: 'client' });
  });
}
