import type { Container } from '../../../kubernetes/api/schema/container.ts';

/**
 * Returns the number of a port that is specified by its number or by its name in the container's spec. Throws Go's
 * error for any other value.
 */
export function handlerPort(container: Container, port: number | string): number {
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = typeof port === 'number' ? port : (named ?? decimal(port));
  if (number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${port}`);
}

/** Parses a decimal port number, because the number may also be a string. */
function decimal(text: string): number {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  throw new Error(`strconv.Atoi: parsing "${text}": invalid syntax`);
}
