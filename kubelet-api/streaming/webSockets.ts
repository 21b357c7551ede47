/**
 * Serves WebSockets of clients that connect to the node directly (`ExtendWebSocketsToKubelet`,
 * `pkg/kubelet/server/server.go`, `streamtranslator.go` and `streamtunnel.go` in `apiserver/pkg/util/proxy`).
 * Translates the WebSocket protocols, so that the runtime's streaming server need not support them.
 */

import { createWebSocketStream } from 'ws';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { dialSpdy, dialUpgrade } from '../../cri/streaming/upgrade.ts';
import {
  acceptWebSocket,
  PORT_FORWARD_PROTOCOL,
  TRANSLATED_PROTOCOLS,
  TUNNEL_SUBPROTOCOL,
  translateCommand,
} from '../../cri/streaming/webSocketCommand.ts';
import type { Exchange, Upgrade } from '../exchange.ts';
import { joinStreams } from './join.ts';
import { createErrorRefusal } from './refusal.ts';
import type { StreamOptions } from './streamOptions.ts';

/** Timeout in milliseconds for a response from the streaming server, which runs on the same host. */
const DIAL_TIMEOUT_MS = 30_000;

interface RelayOptions {
  readonly clock: Clock;
  /** Called once the client is connected. The returned function is called when the connection has ended. */
  readonly onJoined: () => () => void;
}

/**
 * Relays an exec or attach request of a client that uses the subprotocol `v5.channel.k8s.io`. Once the client is
 * connected, it receives failures as a Status object.
 */
export async function relayCommand(
  { signal }: Exchange,
  upgrade: Upgrade,
  runtimeUrl: URL,
  { streams, onJoined }: Pick<RelayOptions, 'onJoined'> & { readonly streams: StreamOptions },
): Promise<void> {
  const end = onJoined();
  try {
    await translateCommand({ ...upgrade, signal }, streams, async () => {
      const { connection } = await dialSpdy(runtimeUrl, {
        protocols: TRANSLATED_PROTOCOLS,
        signal,
        timeoutMs: DIAL_TIMEOUT_MS,
      });
      return connection;
    });
  } finally {
    end();
  }
}

/** Relays the SPDY connection of a port-forward, which the client tunnels in WebSocket messages, to the runtime. */
export async function relayTunnel(
  { signal }: Exchange,
  upgrade: Upgrade,
  runtimeUrl: URL,
  { clock, onJoined }: RelayOptions,
): Promise<void> {
  const limit = startTimeLimit(DIAL_TIMEOUT_MS);
  const dialResult = dialUpgrade(runtimeUrl, [PORT_FORWARD_PROTOCOL], AbortSignal.any([signal, limit.signal]));
  const { socket, head } = await dialResult
    .catch((error: unknown) => {
      throw createErrorRefusal(500, messageOf(error));
    })
    .finally(() => limit.clear());
  if (head.length > 0) socket.unshift(head);
  const end = onJoined();
  try {
    const client = await acceptWebSocket({ ...upgrade, signal }, TUNNEL_SUBPROTOCOL);
    await joinStreams(createWebSocketStream(client), socket, { clock, signal });
  } finally {
    socket.destroy();
    end();
  }
}
