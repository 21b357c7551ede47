import { Buffer } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { STREAM_TYPE } from '../streaming/remoteCommand.ts';
import type { SpdyStream } from '../streaming/spdyStream.ts';
import type { SimulatedPorts } from './streams.ts';

/** The headers of a stream of a forwarded connection. */
const PORT = 'port';
const REQUEST = 'requestid';

/** Serves a connection to a port as soon as both of its streams are open: one for its data, one for what goes wrong. */
export function servePorts({ dial }: SimulatedPorts, opened: SpdyStream[], latest: SpdyStream): void {
  const request = latest.headers.get(REQUEST);
  const pair = opened.filter(({ headers }) => headers.get(REQUEST) === request);
  const named = (type: string) => pair.find(({ headers }) => headers.get(STREAM_TYPE) === type);
  const [data, error] = [named('data'), named('error')];
  if (data === undefined || error === undefined) return;
  for (const each of pair) opened.splice(opened.indexOf(each), 1);
  const port = Number(latest.headers.get(PORT));
  const connection = dial(port);
  if (connection === undefined) {
    error.end(Buffer.from(`failed to connect to localhost:${port}: dial tcp4 127.0.0.1:${port}: connection refused`));
    return void data.end();
  }
  void Promise.all([pipeline(data, connection), pipeline(connection, data)])
    .catch(() => connection.destroy())
    .finally(() => error.end());
}
