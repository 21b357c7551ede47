/** Parses the labels and taints of a node, and the sysctls that its pods may set, from flags and fields. */
import * as z from 'zod/mini';
import type { Taint } from '../../kubernetes/admission/node.ts';
import { sysctlPatternProblem } from '../../kubernetes/admission/sysctls.ts';
import { oneOf, section, textLike } from './fields.ts';

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const PREFIX = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

/** Labels under kubernetes.io that a node may set on itself, in addition to those with the prefixes below. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);
const OWN_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

const isWithin = (domain: string, parent: string) => domain === parent || domain.endsWith(`.${parent}`);

/** Whether a key and a value are valid in a label or a taint. */
function isLabel(key: string, value: string): boolean {
  const slash = key.lastIndexOf('/');
  const prefix = key.slice(0, Math.max(0, slash));
  return NAME.test(key.slice(slash + 1)) && (slash < 0 || PREFIX.test(prefix)) && VALUE.test(value);
}

/** Whether a node may set a label on itself. Most labels under kubernetes.io and k8s.io are reserved. */
function isAllowedOnNodes(key: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.lastIndexOf('/')) : '';
  const isReserved = isWithin(prefix, 'kubernetes.io') || isWithin(prefix, 'k8s.io');
  return !isReserved || OWN_LABELS.has(key) || OWN_PREFIXES.some((own) => isWithin(prefix, own));
}

const pairsOf = (text: string): [key: string, value: string][] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [key = '', ...value] = part.split('=');
      return [key.trim(), value.join('=').trim()];
    });

const textOf = (is: (text: string) => boolean, expected: string) =>
  z.custom<string>((value) => typeof value === 'string' && is(value), { error: `expected ${expected}` });

/** Parses labels such as `zone=a,disk=ssd`. */
export const labelsFlag = z.pipe(
  textOf(
    (text) => pairsOf(text).every(([key, value]) => isLabel(key, value) && isAllowedOnNodes(key)),
    'labels such as "zone=a,disk=ssd"; under kubernetes.io only labels that a node may set on itself',
  ),
  z.transform((text: string) => Object.fromEntries(pairsOf(text))),
);

/** Schema of a taint in a configuration file. */
export const taint = section({
  key: textLike('the name of a taint such as "example.com/gpu"', (key) => key !== '' && isLabel(key, '')),
  value: z.exactOptional(
    textLike('the value of a taint: letters, digits, "-", "_" and "."', (value) => isLabel('a', value)),
  ),
  effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
});

const TAINT = /^([^=:]+)(?:=([^:]*))?:(\w+)$/;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

function taintOf(text: string): Taint | undefined {
  const [, key = '', value = '', effectName] = TAINT.exec(text) ?? [];
  const effect = EFFECTS.find((each) => each === effectName);
  if (effect === undefined || !isLabel(key, value)) return undefined;
  return { key, ...(value === '' ? {} : { value }), effect };
}

/** Parses taints such as `example.com/gpu=yes:NoSchedule,dedicated:NoExecute`. */
export const taintsFlag = z.pipe(
  textOf(
    (text) => namesOf(text).every((part) => taintOf(part) !== undefined),
    'taints such as "example.com/gpu=yes:NoSchedule,dedicated:NoExecute"',
  ),
  z.transform((text: string) => namesOf(text).flatMap((part) => taintOf(part) ?? [])),
);

/** Schema of a sysctl pattern: the name of a sysctl, or a prefix followed by `*`. */
export const sysctlPattern = textOf(
  (text) => sysctlPatternProblem(text) === undefined,
  'a namespaced sysctl such as "net.core.somaxconn", or a pattern such as "kernel.msg*"',
);

/** Parses sysctl patterns that are separated by commas. */
export const sysctlsFlag = z.pipe(
  textOf(
    (text) => namesOf(text).every((name) => sysctlPatternProblem(name) === undefined),
    'namespaced sysctls such as "net.core.somaxconn,kernel.msg*"',
  ),
  z.transform(namesOf),
);

function namesOf(text: string): string[] {
  return text.split(',').filter((name) => name !== '');
}
