/** The servers in simulated containers: what they answer is a matter of the port, and of how long they have run. */
import type { SimulatedServer } from '../../../actors/simulated/connection.ts';
import { lookUp } from '../../../base/lookUp.ts';

const SECOND = 1_000;
/** The status that the health protocol of gRPC has for what serves, and for what does not. */
const [SERVING, NOT_SERVING] = [1, 2];

const says = (status: number, more: object = {}): SimulatedServer => ({
  answer: () => ({ status, body: 'ok', ...more }),
});
const REFUSED: SimulatedServer = { connection: 'refused' };

/** By port what a container serves there, given for how many milliseconds it has run. */
const SERVERS: Readonly<Record<string, (ranMs: number) => SimulatedServer>> = {
  '8080': () => says(200),
  // Some take a while until they listen, and others are well only for a while.
  '8081': (ranMs) => (ranMs < 4 * SECOND ? REFUSED : says(200)),
  '8082': (ranMs) => says(ranMs < 20 * SECOND ? 200 : 503),
  '8083': (ranMs) => (ranMs < 15 * SECOND ? says(200) : {}),
  '8084': () => says(200, { cut: { bytes: 30, ending: 'reset' } }),
  '8085': () => says(200, { delayMs: 700 }),
  '8086': (ranMs) => (ranMs < 15 * SECOND ? says(200) : { connection: 'silent' }),
  '8443': () => ({ ...says(200), isSecure: true }),
  '8444': (ranMs) => ({ ...says(ranMs < 20 * SECOND ? 200 : 503), isSecure: true }),
  '9000': () => ({ health: () => ({ served: SERVING }) }),
  '9001': (ranMs) => ({ health: () => ({ served: ranMs < 20 * SECOND ? SERVING : NOT_SERVING }) }),
  '9002': () => ({}),
};

/** Those that always answer well. */
export const WELL_PORTS = [8080, 8081, 8085] as const;
/** Those that fall ill. */
export const ILL_PORTS = [8082, 8083, 8084, 8086] as const;
/** Those that speak TLS, the one that always answers well first. */
export const SECURE_PORTS = [8443, 8444] as const;
export const GRPC_PORTS = [9000, 9001, 9002] as const;

/** What is at a port of a container that has run so long; undefined where it does not listen. */
export const serverOfContainer = (port: number, ranMs: number): SimulatedServer | undefined =>
  lookUp(SERVERS, String(port))?.(ranMs);
