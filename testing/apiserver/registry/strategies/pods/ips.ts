/** Validates the addresses of a pod and its host (`validatePodIPs` and `validateHostIPs` of `core/validation`). */
import { isIP } from 'node:net';
import { invalidValue } from '../../../failures/causes.ts';
import type { Cause } from '../../../failures/failures.ts';
import { type JsonObject, textAt } from '../../../json.ts';
import { objectsAt, withFields } from '../parts.ts';

const KINDS = [
  ['podIP', 'podIPs'],
  ['hostIP', 'hostIPs'],
] as const;

const addressesOf = (status: JsonObject, list: string): string[] =>
  objectsAt(status, list).map((each) => textAt(each, 'ip'));

/** Makes `podIPs` consistent with `podIP`, which takes precedence (`core/v1/conversion.go`). */
export function withConsistentIps(status: JsonObject): JsonObject {
  const first = textAt(status, 'podIP');
  const [listed, ...others] = addressesOf(status, 'podIPs');
  if (first === '') return withFields(status, { podIP: undefined, podIPs: undefined });
  const all = listed === first ? [first, ...others] : [first];
  return withFields(status, { podIP: first, podIPs: all.map((ip) => ({ ip })) });
}

export function ipCauses(status: JsonObject): Cause[] {
  return KINDS.flatMap(([one, list]) => {
    const addresses = addressesOf(status, list);
    const wrong = addresses.flatMap((ip, index) =>
      isIP(ip) === 0
        ? [
            invalidValue(
              `status.${list}[${index}]`,
              ip,
              'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
            ),
          ]
        : [],
    );
    const first = textAt(status, one);
    const isOther = one === 'hostIP' && addresses.length > 0 && first !== addresses[0];
    const families = addresses.map((ip) => isIP(ip));
    const isCrowded = wrong.length === 0 && new Set(families).size < families.length;
    const shown = addresses.map((ip) => ({ IP: ip }));
    return [
      ...(isOther ? [invalidValue(`status.${list}[0].ip`, addresses[0] ?? '', `must be equal to \`${one}\``)] : []),
      ...wrong,
      ...(isCrowded
        ? [invalidValue(`status.${list}`, shown, 'may specify no more than one IP for each IP family')]
        : []),
    ];
  });
}
