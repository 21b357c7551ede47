/** What a client wants of a stream, in its query. */
import { offersSubprotocol, TUNNEL_SUBPROTOCOL } from '../../cri/streaming/webSocketCommand.ts';
import type { HttpRequest } from '../exchange.ts';
import { Refusal } from './refusal.ts';

export interface StreamOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** None with a terminal. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Only `1` counts, the first time that it is given (`NewOptions` in `cri-streaming/pkg/streaming/remotecommand`). */
export function streamOptions({ searchParams }: URL): StreamOptions {
  const asks = (name: string) => searchParams.get(name) === '1';
  const [stdin, stdout, tty] = [asks('input'), asks('output'), asks('tty')];
  const stderr = asks('error') && !tty;
  if (!stdin && !stdout && !stderr) throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
  return { stdin, stdout, stderr, tty };
}

const PORT = 'port';
const MOST = 65_535;

/**
 * The ports that a WebSocket client names; others name them with each stream (`NewV4Options` in
 * `cri-streaming/pkg/streaming/portforward/websocket.go`).
 */
export function portsAsked(request: HttpRequest, { searchParams }: URL): number[] {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return [];
  // The SPDY connection within a tunnel names the ports.
  if (offersSubprotocol(request, TUNNEL_SUBPROTOCOL)) return [];
  const given = searchParams.getAll(PORT);
  if (given.length === 0) throw new Refusal(400, `query parameter "${PORT}" is required`);
  return given.flatMap((text) => {
    if (text === '') throw new Refusal(400, `query parameter "${PORT}" cannot be empty`);
    return text.split(',').map((each) => portOf(each, text));
  });
}

function portOf(text: string, given: string): number {
  const quoted = JSON.stringify(given);
  const unparsed = (why: string) =>
    new Refusal(400, `unable to parse ${quoted} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^\d+$/.test(text)) throw unparsed('invalid syntax');
  const port = Number(text);
  if (port > MOST) throw unparsed('value out of range');
  if (port === 0) throw new Refusal(400, `port ${quoted} must be > 0`);
  return port;
}
