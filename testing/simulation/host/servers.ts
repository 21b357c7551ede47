/** The servers in simulated containers. Their behaviour depends on the port and the age of the container. */
import type { SimulatedServer } from '../../../actors/simulated/connection.ts';
import { lookUp } from '../../../base/values/lookUp.ts';

const SECOND = 1_000;
/** The status codes of the gRPC health protocol. */
const [SERVING, NOT_SERVING] = [1, 2];

const respond = (status: number, more: object = {}): SimulatedServer => ({
  respond: () => ({ status, body: 'ok', ...more }),
});
const REFUSED: SimulatedServer = { connection: 'refused' };

/** The servers by port, as functions of the age of the container in milliseconds. */
const SERVERS: Readonly<Record<string, (ageMs: number) => SimulatedServer>> = {
  '8080': () => respond(200),
  // Some servers start listening late, and some become unhealthy after a while.
  '8081': (ageMs) => (ageMs < 4 * SECOND ? REFUSED : respond(200)),
  '8082': (ageMs) => respond(ageMs < 20 * SECOND ? 200 : 503),
  '8083': (ageMs) => (ageMs < 15 * SECOND ? respond(200) : {}),
  '8084': () => respond(200, { cut: { bytes: 30, ending: 'reset' } }),
  '8085': () => respond(200, { delayMs: 700 }),
  '8086': (ageMs) => (ageMs < 15 * SECOND ? respond(200) : { connection: 'silent' }),
  '8443': () => ({ ...respond(200), isSecure: true }),
  '8444': (ageMs) => ({ ...respond(ageMs < 20 * SECOND ? 200 : 503), isSecure: true }),
  '9000': () => ({ health: () => ({ served: SERVING }) }),
  '9001': (ageMs) => ({ health: () => ({ served: ageMs < 20 * SECOND ? SERVING : NOT_SERVING }) }),
  '9002': () => ({}),
};

/** The ports of healthy servers. */
export const HEALTHY_PORTS = [8080, 8081, 8085] as const;
/** The ports of servers that become unhealthy. */
export const UNHEALTHY_PORTS = [8082, 8083, 8084, 8086] as const;
/** The TLS ports. The server at the first one stays healthy. */
export const SECURE_PORTS = [8443, 8444] as const;
export const GRPC_PORTS = [9000, 9001, 9002] as const;

/** Returns the server at a port of a container of this age, or undefined if nothing listens there. */
export const serverOfContainer = (port: number, ageMs: number): SimulatedServer | undefined =>
  lookUp(SERVERS, String(port))?.(ageMs);
