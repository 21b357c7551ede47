/** Parses the stream options in a request's query. */
import { offersSubprotocol, TUNNEL_SUBPROTOCOL } from '../../cri/streaming/webSocketCommand.ts';
import type { HttpRequest } from '../exchange.ts';
import { Refusal } from './refusal.ts';

export interface StreamOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** False with a terminal, because a terminal has only one output stream. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

/**
 * Parses the options. An option is enabled if its first parameter has the value `1` (`NewOptions` in
 * `cri-streaming/pkg/streaming/remotecommand`).
 */
export function streamOptions({ searchParams }: URL): StreamOptions {
  const isEnabled = (name: string) => searchParams.get(name) === '1';
  const [stdin, stdout, tty] = [isEnabled('input'), isEnabled('output'), isEnabled('tty')];
  const stderr = isEnabled('error') && !tty;
  if (!stdin && !stdout && !stderr) throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
  return { stdin, stdout, stderr, tty };
}

const PORT_PARAMETER = 'port';
const MAX_PORT = 65_535;

/**
 * Returns the ports that a WebSocket client requests. Other protocols name the port in each stream (`NewV4Options` in
 * `cri-streaming/pkg/streaming/portforward/websocket.go`).
 */
export function requestedPorts(request: HttpRequest, { searchParams }: URL): number[] {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return [];
  // Return no ports for a tunnel, because the SPDY connection within the tunnel names them.
  if (offersSubprotocol(request, TUNNEL_SUBPROTOCOL)) return [];
  const portTexts = searchParams.getAll(PORT_PARAMETER);
  if (portTexts.length === 0) throw new Refusal(400, `query parameter "${PORT_PARAMETER}" is required`);
  return portTexts.flatMap((text) => {
    if (text === '') throw new Refusal(400, `query parameter "${PORT_PARAMETER}" cannot be empty`);
    return text.split(',').map((each) => parsePort(each, text));
  });
}

function parsePort(text: string, portParameter: string): number {
  const quotedPorts = JSON.stringify(portParameter);
  const parseRefusal = (why: string) =>
    new Refusal(
      400,
      `unable to parse ${quotedPorts} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
    );
  if (!/^\d+$/.test(text)) throw parseRefusal('invalid syntax');
  const port = Number(text);
  if (port > MAX_PORT) throw parseRefusal('value out of range');
  if (port === 0) throw new Refusal(400, `port ${quotedPorts} must be > 0`);
  return port;
}
