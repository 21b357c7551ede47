/** Parses the labels and taints of a node, and the sysctls that its pods may set, from flags and fields. */
import * as z from 'zod/mini';
import type { Taint } from '../../../kubernetes/admission/node.ts';
import { sysctlPatternProblem } from '../../../kubernetes/admission/sysctls.ts';
import { enumSchema, matchingStringSchema, sectionSchema } from './fields.ts';

const NAME_PATTERN = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE_PATTERN = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const PREFIX_PATTERN = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

/** Labels under kubernetes.io that a node may set on itself, in addition to those with the prefixes below. */
const SELF_ASSIGNABLE_LABELS: ReadonlySet<string> = new Set([
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
const SELF_ASSIGNABLE_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

const isSubdomain = (domain: string, parent: string) => domain === parent || domain.endsWith(`.${parent}`);

/** Whether a key and a value are valid in a label or a taint. */
function isValidLabel(key: string, value: string): boolean {
  const slashIndex = key.lastIndexOf('/');
  const keyPrefix = key.slice(0, Math.max(0, slashIndex));
  return (
    NAME_PATTERN.test(key.slice(slashIndex + 1)) &&
    (slashIndex < 0 || PREFIX_PATTERN.test(keyPrefix)) &&
    VALUE_PATTERN.test(value)
  );
}

/** Whether a node may set a label on itself. Most labels under kubernetes.io and k8s.io are reserved. */
function canNodeSetLabel(key: string): boolean {
  const keyPrefix = key.includes('/') ? key.slice(0, key.lastIndexOf('/')) : '';
  const isReservedPrefix = isSubdomain(keyPrefix, 'kubernetes.io') || isSubdomain(keyPrefix, 'k8s.io');
  return (
    !isReservedPrefix ||
    SELF_ASSIGNABLE_LABELS.has(key) ||
    SELF_ASSIGNABLE_PREFIXES.some((own) => isSubdomain(keyPrefix, own))
  );
}

const parsePairs = (text: string): [key: string, value: string][] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [key = '', ...value] = part.split('=');
      return [key.trim(), value.join('=').trim()];
    });

const commaListSchema = (isValid: (text: string) => boolean, expected: string) =>
  z.custom<string>((value) => typeof value === 'string' && isValid(value), { error: `expected ${expected}` });

/** Parses labels such as `zone=a,disk=ssd`. */
export const labelsFlagSchema = z.pipe(
  commaListSchema(
    (text) => parsePairs(text).every(([key, value]) => isValidLabel(key, value) && canNodeSetLabel(key)),
    'labels such as "zone=a,disk=ssd"; under kubernetes.io only labels that a node may set on itself',
  ),
  z.transform((text: string) => Object.fromEntries(parsePairs(text))),
);

/** Schema of a taint in a configuration file. */
export const taintSchema = sectionSchema({
  key: matchingStringSchema(
    'the name of a taint such as "example.com/gpu"',
    (key) => key !== '' && isValidLabel(key, ''),
  ),
  value: z.optional(
    matchingStringSchema('the value of a taint: letters, digits, "-", "_" and "."', (value) =>
      isValidLabel('a', value),
    ),
  ),
  effect: enumSchema('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
});

const TAINT_PATTERN = /^([^=:]+)(?:=([^:]*))?:(\w+)$/;
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

function parseTaint(text: string): Taint | undefined {
  const [, key = '', value = '', effectName] = TAINT_PATTERN.exec(text) ?? [];
  const effect = TAINT_EFFECTS.find((each) => each === effectName);
  if (effect === undefined || !isValidLabel(key, value)) return undefined;
  return { key, ...(value === '' ? {} : { value }), effect };
}

/** Parses taints such as `example.com/gpu=yes:NoSchedule,dedicated:NoExecute`. */
export const taintsFlagSchema = z.pipe(
  commaListSchema(
    (text) => parseNames(text).every((part) => parseTaint(part) !== undefined),
    'taints such as "example.com/gpu=yes:NoSchedule,dedicated:NoExecute"',
  ),
  z.transform((text: string) => parseNames(text).flatMap((part) => parseTaint(part) ?? [])),
);

/** Schema of a sysctl pattern: the name of a sysctl, or a prefix followed by `*`. */
export const sysctlPatternSchema = commaListSchema(
  (text) => sysctlPatternProblem(text) === undefined,
  'a namespaced sysctl such as "net.core.somaxconn", or a pattern such as "kernel.msg*"',
);

/** Parses sysctl patterns that are separated by commas. */
export const sysctlsFlagSchema = z.pipe(
  commaListSchema(
    (text) => parseNames(text).every((name) => sysctlPatternProblem(name) === undefined),
    'namespaced sysctls such as "net.core.somaxconn,kernel.msg*"',
  ),
  z.transform(parseNames),
);

function parseNames(text: string): string[] {
  return text.split(',').filter((name) => name !== '');
}
