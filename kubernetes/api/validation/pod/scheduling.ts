/**
 * Validates scheduling fields, i.e. node selectors, affinity, tolerations, topology spread constraints and scheduling
 * gates (`core/validation`).
 */
import type { Problem } from '../../problem.ts';
import type { PodSpec } from '../../schema/pod.ts';
import { validateLabelSelector, validateLabelValues, validateOperator } from '../metadata/labelSelectors.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems, labelValueProblems } from '../metadata/nameRules.ts';
import {
  allInvalid,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  validateOneOf,
  validatePositive,
} from '../words.ts';

type Affinity = NonNullable<PodSpec['affinity']>;
type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;
type NodeSelectorTerm = NonNullable<
  NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];
type NodeRequirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];
type PodAffinity = NonNullable<Affinity['podAffinity']>;
type PodAffinityTerm = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];

const REQUIRED_TERMS = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED_TERMS = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity({ affinity }: PodSpec): Problem[] {
  const path = 'spec.affinity';
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...(nodeAffinity ? validateNodeAffinity(nodeAffinity, `${path}.nodeAffinity`) : []),
    ...(podAffinity ? validatePodAffinity(podAffinity, `${path}.podAffinity`) : []),
    ...(podAntiAffinity ? validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`) : []),
  ];
}

function validateNodeAffinity(affinity: NodeAffinity, path: string): Problem[] {
  const terms = affinity[REQUIRED_TERMS]?.nodeSelectorTerms;
  const fieldPath = `${path}.${REQUIRED_TERMS}.nodeSelectorTerms`;
  return [
    ...(terms?.length === 0 ? [required(fieldPath, 'must have at least one node selector term')] : []),
    ...(terms ?? []).flatMap((term, index) => validateNodeTerm(term, true, `${fieldPath}[${index}]`)),
    ...(affinity[PREFERRED_TERMS] ?? []).flatMap(({ weight, preference }, index) => [
      ...validateWeight(weight, `${path}.${PREFERRED_TERMS}[${index}].weight`),
      // Accept invalid label values in a preference. They are harmless, because no node can have them.
      ...validateNodeTerm(preference, false, `${path}.${PREFERRED_TERMS}[${index}].preference`),
    ]),
  ];
}

const validateWeight = (weight: number, path: string): Problem[] =>
  weight > 0 && weight <= 100 ? [] : [invalid(path, weight, 'must be in the range 1-100')];

function validateNodeTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  shouldCheckValues: boolean,
  path: string,
): Problem[] {
  return [
    ...matchExpressions.flatMap((each, index) =>
      validateNodeRequirement(each, shouldCheckValues, `${path}.matchExpressions[${index}]`),
    ),
    ...matchFields.flatMap((each, index) => validateNodeField(each, `${path}.matchFields[${index}]`)),
  ];
}

function validateNodeRequirement(requirement: NodeRequirement, shouldCheckValues: boolean, path: string): Problem[] {
  const { key, operator, values = [] } = requirement;
  const isComparison = operator === 'Gt' || operator === 'Lt';
  const singleValueRule = "must be specified single value when `operator` is 'Lt' or 'Gt'";
  const valueProblems = isComparison
    ? values.length === 1
      ? []
      : [required(`${path}.values`, singleValueRule)]
    : validateOperator(operator, values, path);
  return [
    ...valueProblems,
    ...allInvalid(`${path}.key`, key, labelKeyProblems(key)),
    ...(shouldCheckValues ? validateLabelValues(values, path) : []),
  ];
}

/** Checks a field requirement. The only supported field is the node's name. */
function validateNodeField({ key, operator, values = [] }: NodeRequirement, path: string): Problem[] {
  const isKnownOperator = operator === 'In' || operator === 'NotIn';
  const singleValueRule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
  return [
    ...(isKnownOperator
      ? values.length === 1
        ? []
        : [required(`${path}.values`, singleValueRule)]
      : [invalid(`${path}.operator`, operator, 'not a valid selector operator')]),
    ...(key === 'metadata.name'
      ? values.flatMap((value, index) => allInvalid(`${path}.values[${index}]`, value, dnsSubdomainProblems(value)))
      : [invalid(`${path}.key`, key, 'not a valid field selector key')]),
  ];
}

function validatePodAffinity(affinity: PodAffinity, path: string): Problem[] {
  return [
    ...(affinity[REQUIRED_TERMS] ?? []).flatMap((term, index) =>
      validatePodAffinityTerm(term, `${path}.${REQUIRED_TERMS}[${index}]`),
    ),
    ...(affinity[PREFERRED_TERMS] ?? []).flatMap(({ weight, podAffinityTerm }, index) => [
      ...validateWeight(weight, `${path}.${PREFERRED_TERMS}[${index}].weight`),
      ...validatePodAffinityTerm(podAffinityTerm, `${path}.${PREFERRED_TERMS}[${index}].podAffinityTerm`),
    ]),
  ];
}

function validatePodAffinityTerm(term: PodAffinityTerm, path: string): Problem[] {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  const fieldPath = `${path}.topologyKey`;
  return [
    ...(labelSelector ? validateLabelSelector(labelSelector, `${path}.labelSelector`) : []),
    ...(namespaceSelector ? validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`) : []),
    ...namespaces.flatMap((name) => allInvalid(`${path}.namespace`, name, dnsLabelProblems(name))),
    ...validateLabelKeys(term, path),
    ...(topologyKey === '' ? [required(fieldPath, 'can not be empty')] : []),
    ...allInvalid(fieldPath, topologyKey, labelKeyProblems(topologyKey)),
  ];
}

/**
 * Validates the keys of labels whose values come from the pod itself (`ValidateMatchLabelKeysAndMismatchLabelKeys`).
 */
function validateLabelKeys(
  {
    matchLabelKeys = [],
    mismatchLabelKeys = [],
    labelSelector,
  }: Pick<PodAffinityTerm, 'matchLabelKeys' | 'mismatchLabelKeys' | 'labelSelector'>,
  path: string,
): Problem[] {
  const validateKeys = (keys: readonly string[], itemPath: string): Problem[] => {
    if (keys.length === 0) return [];
    if (labelSelector === undefined)
      return [forbidden(itemPath, 'must not be specified when labelSelector is not set')];
    return keys.flatMap((key, index) => allInvalid(`${itemPath}[${index}]`, key, labelKeyProblems(key)));
  };
  const { matchLabels = {}, matchExpressions = [] } = labelSelector ?? {};
  const selectedKeys = new Set(Object.keys(matchLabels));
  const indexes = new Map(matchLabelKeys.map((key, index) => [key, index]));
  const mismatchedKeys = new Set(mismatchLabelKeys);
  const duplicateProblems = matchExpressions.flatMap(({ key }) => {
    const index = indexes.get(key);
    const isRepeated = index !== undefined && selectedKeys.has(key);
    selectedKeys.add(key);
    return isRepeated ? [invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')] : [];
  });
  return [
    ...validateKeys(matchLabelKeys, `${path}.matchLabelKeys`),
    ...validateKeys(mismatchLabelKeys, `${path}.mismatchLabelKeys`),
    ...duplicateProblems,
    ...matchLabelKeys.flatMap((key, index) =>
      mismatchedKeys.has(key)
        ? [invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys')]
        : [],
    ),
  ];
}

export function validateTolerations({ tolerations = [] }: Pick<PodSpec, 'tolerations'>, path: string): Problem[] {
  return tolerations.flatMap((toleration, index) => validateToleration(toleration, `${path}[${index}]`));
}

type Toleration = NonNullable<PodSpec['tolerations']>[number];

function validateToleration(toleration: Toleration, path: string): Problem[] {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
  const existsRule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
  return [
    ...(key === '' ? [] : allInvalid(`${path}.key`, key, labelKeyProblems(key))),
    ...(key === '' && operator !== 'Exists' ? [invalid(`${path}.operator`, operator, existsRule)] : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : []),
    ...validateTolerationOperator(toleration, path),
    ...(effect === '' ? [] : validateOneOf(`${path}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
  ];
}

/**
 * Checks the operator of a toleration. Lt and Gt need the feature gate `TaintTolerationComparisonOperators`, which is
 * off in 1.36.
 */
function validateTolerationOperator({ operator, value = '' }: Toleration, path: string): Problem[] {
  const fieldPath = `${path}.operator`;
  switch (operator || undefined) {
    case 'Equal':
    case undefined: {
      const valueProblems = labelValueProblems(value);
      return valueProblems.length === 0 ? [] : [invalid(fieldPath, value, valueProblems.join(';'))];
    }
    case 'Exists':
      return value === '' ? [] : [invalid(fieldPath, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [notSupported(fieldPath, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(fieldPath, operator, ['Equal', 'Exists'])];
  }
}

export function validateReadinessGates({ readinessGates = [] }: PodSpec): Problem[] {
  return readinessGates.flatMap(({ conditionType }, index) =>
    allInvalid(`spec.readinessGates[${index}].conditionType`, conditionType, labelKeyProblems(conditionType)),
  );
}

export function validateSchedulingGates({ schedulingGates = [] }: PodSpec): Problem[] {
  const names = new Set<string>();
  return schedulingGates.flatMap(({ name }, index) => {
    const path = `spec.schedulingGates[${index}]`;
    const isRepeated = names.has(name);
    names.add(name);
    return [...allInvalid(path, name, labelKeyProblems(name)), ...(isRepeated ? [duplicate(path, name)] : [])];
  });
}

type SpreadConstraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];

export function validateTopologySpread({ topologySpreadConstraints: constraints = [] }: PodSpec): Problem[] {
  const constraintPair = ({ topologyKey, whenUnsatisfiable }: SpreadConstraint) =>
    `{${topologyKey}, ${whenUnsatisfiable}}`;
  const lastIndexes = new Map(constraints.map((constraint, index) => [constraintPair(constraint), index]));
  return constraints.flatMap((constraint, index) => {
    const path = `spec.topologySpreadConstraints[${index}]`;
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector } = constraint;
    const pair = constraintPair(constraint);
    const isRepeated = lastIndexes.get(pair) !== index;
    return [
      ...validatePositive(`${path}.maxSkew`, maxSkew),
      ...(topologyKey === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
      ...validateOneOf(`${path}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']),
      ...(isRepeated ? [duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, pair)] : []),
      ...(minDomains === undefined ? [] : validateMinDomains(minDomains, whenUnsatisfiable, `${path}.minDomains`)),
      ...validateOneOf(`${path}.nodeAffinityPolicy`, constraint.nodeAffinityPolicy, ['Honor', 'Ignore']),
      ...validateOneOf(`${path}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, ['Honor', 'Ignore']),
      ...validateLabelKeys(constraint, path),
      ...(labelSelector ? validateLabelSelector(labelSelector, `${path}.labelSelector`) : []),
    ];
  });
}

function validateMinDomains(
  minDomains: number,
  action: SpreadConstraint['whenUnsatisfiable'],
  path: string,
): Problem[] {
  const rule = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  return [
    ...validatePositive(path, minDomains),
    ...(action === 'DoNotSchedule' ? [] : [invalid(path, minDomains, rule)]),
  ];
}

export function validateSchedulingGroup({ schedulingGroup }: PodSpec): Problem[] {
  if (schedulingGroup === undefined) return [];
  const path = 'spec.schedulingGroup.podGroupName';
  const { podGroupName: name } = schedulingGroup;
  if (name === undefined) return [invalid(path, null, 'must specify one of: `podGroupName`')];
  return allInvalid(path, name, dnsSubdomainProblems(name));
}

/**
 * Returns warnings about fields of a static pod that have no effect, because no scheduler places a static pod. A
 * kubelet ignores these fields silently.
 */
export function schedulerWarnings({ affinity = {}, topologySpreadConstraints, schedulingGroup }: PodSpec): Problem[] {
  const { podAffinity, podAntiAffinity, nodeAffinity } = affinity;
  const fields = [
    { path: 'spec.affinity.podAffinity', value: podAffinity },
    { path: 'spec.affinity.podAntiAffinity', value: podAntiAffinity },
    {
      path: 'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution',
      value: nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    },
    { path: 'spec.topologySpreadConstraints', value: topologySpreadConstraints },
    { path: 'spec.schedulingGroup', value: schedulingGroup },
  ];
  const message = 'has no effect on a static pod, because no scheduler places it';
  return fields.filter(({ value }) => value !== undefined).map(({ path }) => ({ path, message }));
}
