/** Validates updates of a pod (`ValidatePodUpdate` of `core/validation`). */
import { firstDifference } from '../../../../../base/values/firstDifference.ts';
import { isJsonEqual } from '../../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../../base/values/lookUp.ts';
import { forbidden, invalidValue, required } from '../../../failures/causes.ts';
import type { Cause } from '../../../failures/failures.ts';
import { isObject, type JsonObject, numberAt, objectAt, textAt } from '../../../json.ts';
import { listAt, objectsAt, specOf, withFields, withFieldsOf } from '../parts.ts';
import { MIRROR } from './mirrorPod.ts';
import { podCauses } from './readPod.ts';

const MUTABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');
const LONGEST_DEADLINE = 2 ** 31 - 1;

export function podUpdateCauses(pod: JsonObject, before: JsonObject): Cause[] {
  const [spec, had] = [specOf(pod), specOf(before)];
  const ofPod = [...podCauses(pod), ...mirrorCauses(pod, before)];
  for (const list of ['containers', 'initContainers'] as const) {
    const isOther = listAt(spec, list).length !== listAt(had, list).length;
    if (isOther) return [...ofPod, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
  }
  const deadline = deadlineCause(spec, had);
  const causes = [...ofPod, ...imageCauses(spec), ...(deadline === undefined ? [] : [deadline])];
  if (deadline !== undefined && numberAt(spec, 'activeDeadlineSeconds') !== undefined) return causes;
  return [...causes, ...tolerationCauses(spec, had), ...gateCauses(spec, had), ...otherCauses(spec, had)];
}

/** The mirror annotation cannot change. */
function mirrorCauses(pod: JsonObject, before: JsonObject): Cause[] {
  const [own, had] = [pod, before].map((each) => lookUp(objectAt(objectAt(each, 'metadata'), 'annotations'), MIRROR));
  if (own === had) return [];
  const field = `metadata.annotations[${MIRROR}]`;
  return [
    had === undefined
      ? forbidden(field, 'may not add mirror pod annotation')
      : forbidden(field, 'may not remove or update mirror pod annotation'),
  ];
}

const imageCauses = (spec: JsonObject): Cause[] =>
  ['containers', 'initContainers'].flatMap((list) =>
    objectsAt(spec, list).flatMap((container, index) => {
      const field = `spec.${list}[${index}].image`;
      const image = textAt(container, 'image');
      if (image === '') return [required(field)];
      return image.trim() === image ? [] : [invalidValue(field, image, 'must not have leading or trailing whitespace')];
    }),
  );

/** A deadline may be added or reduced. */
function deadlineCause(spec: JsonObject, before: JsonObject): Cause | undefined {
  const field = 'spec.activeDeadlineSeconds';
  const [deadline, previous] = [numberAt(spec, 'activeDeadlineSeconds'), numberAt(before, 'activeDeadlineSeconds')];
  if (deadline === undefined)
    return previous === undefined
      ? undefined
      : invalidValue(field, null, 'must not update from a positive integer to nil value');
  if (deadline < 0 || deadline > LONGEST_DEADLINE)
    return invalidValue(field, deadline, `must be between 0 and ${LONGEST_DEADLINE}, inclusive`);
  return previous !== undefined && previous < deadline
    ? invalidValue(field, deadline, 'must be less than or equal to previous value')
    : undefined;
}

/** Tolerations may be added, and their duration may change. */
function tolerationCauses(spec: JsonObject, before: JsonObject): Cause[] {
  const tolerations = objectsAt(spec, 'tolerations');
  const isKept = objectsAt(before, 'tolerations').every((had) =>
    tolerations.some((each) => isJsonEqual(withFieldsOf(each, had, ['tolerationSeconds']), had)),
  );
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return isKept ? [] : [forbidden('spec.tolerations', why)];
}

function gateCauses(spec: JsonObject, before: JsonObject): Cause[] {
  const had = listAt(before, 'schedulingGates');
  const added = listAt(spec, 'schedulingGates').filter((gate) => !had.some((each) => isJsonEqual(each, gate)));
  if (added.length === 0) return [];
  const names = added.map((gate) => (isObject(gate) ? textAt(gate, 'name') : '')).join(' ');
  return [forbidden('spec.schedulingGates', `only deletion is allowed, but found new scheduling gates '[${names}]'`)];
}

/** Checks that all other fields are unchanged. */
function otherCauses(spec: JsonObject, before: JsonObject): Cause[] {
  const munged = withFieldsOf(withImagesOf(spec, before), before, [
    'activeDeadlineSeconds',
    'schedulingGates',
    'tolerations',
    ...((numberAt(before, 'terminationGracePeriodSeconds') ?? 0) < 0 ? ['terminationGracePeriodSeconds'] : []),
    // Scheduling constraints may change as long as the pod has scheduling gates.
    ...(listAt(before, 'schedulingGates').length > 0 ? ['nodeSelector', 'affinity'] : []),
  ]);
  if (isJsonEqual(munged, before)) return [];
  const difference = JSON.stringify(firstDifference(before, munged) ?? null);
  return [forbidden('spec', `pod updates may not change fields other than ${MUTABLE}\n${difference}`)];
}

function withImagesOf(spec: JsonObject, before: JsonObject): JsonObject {
  const lists = ['containers', 'initContainers'].flatMap((list) => {
    if (lookUp(spec, list) === undefined) return [];
    const had = objectsAt(before, list);
    const containers = objectsAt(spec, list).map((each, index) => withFieldsOf(each, had[index] ?? {}, ['image']));
    return [[list, containers] as const];
  });
  return withFields(spec, Object.fromEntries(lists));
}
