/** Where a probe or hook of a container goes: its host and port. */
import type { Container } from '../../../kubernetes/api/schema/container.ts';

/** A port by its number, or by the name that the container's spec gives it; throws when it is none. */
export function handlerPort(container: Container, port: number | string): number {
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = typeof port === 'number' ? port : (named ?? decimal(port));
  if (number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${port}`);
}

/** A number may also be written as a text. */
function decimal(text: string): number {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  throw new Error(`strconv.Atoi: parsing "${text}": invalid syntax`);
}
