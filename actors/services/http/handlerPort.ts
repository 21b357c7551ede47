import type { Container } from '../../../kubernetes/api/schema/container.ts';

/**
 * Returns the number of a port that is specified by its number or by its name in the container's spec. Throws Go's
 * error for any other value.
 */
export function handlerPort(container: Container, port: number | string): number {
  const namedPort = container.ports?.find(({ name }) => name === port)?.containerPort;
  const portNumber = typeof port === 'number' ? port : (namedPort ?? parseDecimal(port));
  if (portNumber > 0 && portNumber < 65_536) return portNumber;
  throw new Error(`invalid port number: ${port}`);
}

/** Parses a port number in decimal digits. A port that is specified as a string may be a number instead of a name. */
function parseDecimal(text: string): number {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  throw new Error(`strconv.Atoi: parsing "${text}": invalid syntax`);
}
