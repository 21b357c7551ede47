/** Strategies of namespaces (`registry/core/namespace` of kubernetes). */

import { dnsLabelProblems } from '../../../../kubernetes/api/validation/metadata/nameRules.ts';
import { rfc3339 } from '../../../../kubernetes/api/values/rfc3339.ts';
import { type JsonObject, objectAt, textAt } from '../../json.ts';
import { metadataOf, withMetadata } from '../../store/metadata.ts';
import { plainStrategy, type Strategy, withSelectors } from '../strategy.ts';
import { listAt, specOf, statusOf, withFieldsOf } from './parts.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
/** The finalizer of the namespace controller, which first empties the namespace. */
const FINALIZER = 'kubernetes';

const withNameLabel = (object: JsonObject): JsonObject => {
  const { name } = metadataOf(object);
  if (!name) return object;
  return withMetadata(object, { labels: { ...objectAt(objectAt(object, 'metadata'), 'labels'), [NAME_LABEL]: name } });
};

export const namespaceStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([['status.phase', (object) => textAt(statusOf(object), 'phase')]]),
  nameRule: dnsLabelProblems,
  defaulted: withNameLabel,
  created: (object) => ({
    ...object,
    spec: {
      finalizers: listAt(specOf(object), 'finalizers').includes(FINALIZER)
        ? listAt(specOf(object), 'finalizers')
        : [...listAt(specOf(object), 'finalizers'), FINALIZER],
    },
    status: { phase: 'Active' },
  }),
  updated: (object, before) => withFieldsOf(object, before, ['spec', 'status']),
  markDeleted: (object, now) => {
    if (metadataOf(object).deletionTimestamp !== undefined)
      return listAt(specOf(object), 'finalizers').length > 0 ? object : undefined;
    return { ...withMetadata(object, { deletionTimestamp: rfc3339(now) }), status: { phase: 'Terminating' } };
  },
};

export const namespaceStatusStrategy: Strategy = {
  ...namespaceStrategy,
  updated: (object, before) => withFieldsOf(object, before, ['spec']),
};

/** The strategy of the `finalize` subresource. */
export const namespaceFinalizeStrategy: Strategy = {
  ...namespaceStrategy,
  updated: (object, before) => withFieldsOf(object, before, ['status']),
};
