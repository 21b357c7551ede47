/** Requests to an API server that are timed, for who counts them. */
import type { Clock } from './clock.ts';
import type { KubeTransport } from './transport.ts';

/** A request that was answered, as far as its headers, or was not. */
export interface TimedRequest {
  readonly method: string;
  /** The server's host and port. */
  readonly host: string;
  /** Absent: there was no answer. */
  readonly code?: number;
  readonly ms: number;
  /** Bytes of the body that was sent. */
  readonly sentBytes: number;
}

/** The same transport: `tell` hears of each request. It must not throw. */
export function timedTransport(
  transport: KubeTransport,
  {
    origin,
    clock,
    tell,
  }: { readonly origin: string; readonly clock: Clock; readonly tell: (request: TimedRequest) => void },
): KubeTransport {
  const { host } = new URL(origin);
  return {
    send: async (request, options) => {
      const begunAt = clock.monotonic();
      const ended = (code?: number) => {
        const { method, body = '' } = request;
        const sentBytes = Buffer.byteLength(body);
        tell({ method, host, ms: clock.monotonic() - begunAt, sentBytes, ...(code === undefined ? {} : { code }) });
      };
      try {
        const response = await transport.send(request, options);
        ended(response.code);
        return response;
      } catch (error) {
        ended();
        throw error;
      }
    },
    reset: () => transport.reset(),
    close: () => transport.close(),
  };
}
