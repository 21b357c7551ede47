import * as z from 'zod/mini';
import { enumStringSchema, textMapSchema } from './scalars.ts';
import { labelSelectorSchema } from './selector.ts';

const nodeSelectorTermSchema = z.strictObject({
  matchExpressions: z.exactOptional(z.array(createNodeRequirementSchema())),
  matchFields: z.exactOptional(z.array(createNodeRequirementSchema())),
});

function createNodeRequirementSchema() {
  return z.strictObject({
    key: z.string(),
    operator: enumStringSchema<'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'>(),
    values: z.exactOptional(z.array(z.string())),
  });
}

const podAffinityTermSchema = z.strictObject({
  labelSelector: z.exactOptional(labelSelectorSchema),
  namespaces: z.exactOptional(z.array(z.string())),
  topologyKey: z.string(),
  namespaceSelector: z.exactOptional(labelSelectorSchema),
  matchLabelKeys: z.exactOptional(z.array(z.string())),
  mismatchLabelKeys: z.exactOptional(z.array(z.string())),
});

const podAffinitySchema = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.exactOptional(z.array(podAffinityTermSchema)),
  preferredDuringSchedulingIgnoredDuringExecution: z.exactOptional(
    z.array(z.strictObject({ weight: z.int32(), podAffinityTerm: podAffinityTermSchema })),
  ),
});

const affinitySchema = z.strictObject({
  nodeAffinity: z.exactOptional(
    z.strictObject({
      requiredDuringSchedulingIgnoredDuringExecution: z.exactOptional(
        z.strictObject({ nodeSelectorTerms: z.array(nodeSelectorTermSchema) }),
      ),
      preferredDuringSchedulingIgnoredDuringExecution: z.exactOptional(
        z.array(z.strictObject({ weight: z.int32(), preference: nodeSelectorTermSchema })),
      ),
    }),
  ),
  podAffinity: z.exactOptional(podAffinitySchema),
  podAntiAffinity: z.exactOptional(podAffinitySchema),
});

export const tolerationSchema = z.strictObject({
  key: z.exactOptional(z.string()),
  operator: z.exactOptional(enumStringSchema<'Exists' | 'Equal' | 'Lt' | 'Gt'>()),
  value: z.exactOptional(z.string()),
  effect: z.exactOptional(enumStringSchema<'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'>()),
  tolerationSeconds: z.exactOptional(z.int()),
});

const topologySpreadConstraintSchema = z.strictObject({
  maxSkew: z.int32(),
  topologyKey: z.string(),
  whenUnsatisfiable: enumStringSchema<'DoNotSchedule' | 'ScheduleAnyway'>(),
  labelSelector: z.exactOptional(labelSelectorSchema),
  minDomains: z.exactOptional(z.int32()),
  nodeAffinityPolicy: z.exactOptional(enumStringSchema<'Honor' | 'Ignore'>()),
  nodeTaintsPolicy: z.exactOptional(enumStringSchema<'Honor' | 'Ignore'>()),
  matchLabelKeys: z.exactOptional(z.array(z.string())),
});

/**
 * Schemas of the PodSpec fields that a scheduler reads. The node uses only the tolerations, the priority and the node
 * selectors.
 */
export const schedulingFields = {
  nodeSelector: z.exactOptional(textMapSchema),
  affinity: z.exactOptional(affinitySchema),
  schedulerName: z.exactOptional(z.string()),
  tolerations: z.exactOptional(z.array(tolerationSchema)),
  priorityClassName: z.exactOptional(z.string()),
  priority: z.exactOptional(z.int32()),
  preemptionPolicy: z.exactOptional(enumStringSchema<'PreemptLowerPriority' | 'Never'>()),
  topologySpreadConstraints: z.exactOptional(z.array(topologySpreadConstraintSchema)),
  schedulingGates: z.exactOptional(z.array(z.strictObject({ name: z.string() }))),
  schedulingGroup: z.exactOptional(z.strictObject({ podGroupName: z.exactOptional(z.string()) })),
};
