/** Sets a pod's priority from its PriorityClass (`plugin/pkg/admission/priority`). */
import { lookUp } from '../../../base/values/lookUp.ts';
import { forbidden } from '../failures/failures.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import type { RegistryContext } from '../registry/strategy.ts';
import { metadataOf } from '../store/metadata.ts';
import { isNewPod, type Plugin } from './plugin.ts';

export const priority: Plugin = (request) => {
  const { target, object, registry } = request;
  if (object === undefined || !isNewPod(request)) return undefined;
  const spec = objectAt(object, 'spec');
  const forbid = (why: string) => forbidden(target.resource, metadataOf(object).name ?? '', why);
  const asksFor = textAt(spec, 'priorityClassName');
  const found =
    asksFor === ''
      ? defaultClass(registry)
      : registry.store.get('scheduling.k8s.io/priorityclasses', undefined, asksFor);
  if (asksFor !== '' && found === undefined) throw forbid(`no PriorityClass with name ${asksFor} was found`);
  const value = numberAt(found ?? {}, 'value') ?? 0;
  const requested = numberAt(spec, 'priority');
  if (requested !== undefined && requested !== value)
    throw forbid(
      `the integer value of priority (${requested}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  const priorityClassName = asksFor || (metadataOf(found ?? {}).name ?? '');
  return {
    ...object,
    spec: {
      ...spec,
      ...(priorityClassName === '' ? {} : { priorityClassName }),
      priority: value,
      preemptionPolicy:
        lookUp(spec, 'preemptionPolicy') ?? (textAt(found ?? {}, 'preemptionPolicy') || 'PreemptLowerPriority'),
    },
  };
};

function defaultClass(registry: RegistryContext): JsonObject | undefined {
  const all = registry.store.list('scheduling.k8s.io/priorityclasses');
  return all.map(([, object]) => object).find((object) => lookUp(object, 'globalDefault') === true);
}
