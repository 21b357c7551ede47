/** Compiles the settings for the admission of pods, except those for resources. */
import type { Taint } from '../../../kubernetes/admission/node.ts';
import { UNINITIALIZED_TAINT } from '../../../kubernetes/node/cloud.ts';
import { isExternalProvider } from '../settings/clusterSettings.ts';
import type { SettingValues } from '../settings/settingValues.ts';

export interface NodeAdmission {
  /** Labels in addition to those that every node has. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Unsafe sysctls that pods may set, as names or as prefixes that end in `*`. */
  readonly unsafeSysctls: readonly string[];
}

export function nodeAdmission(values: SettingValues): NodeAdmission {
  return Object.freeze({
    labels: Object.freeze({ ...values['--node-labels'] }),
    taints: Object.freeze(compileTaints(values)),
    unsafeSysctls: Object.freeze([...values.allowedUnsafeSysctls]),
  });
}

/**
 * Returns the configured taints and, with an external cloud provider, the taint of an uninitialized node, which the
 * cloud controller removes.
 */
function compileTaints(values: SettingValues): readonly Taint[] {
  const { registerWithTaints: configuredTaints = [] } = values;
  const hasCloudProvider = Boolean(values['--kubeconfig']) && isExternalProvider(values['--cloud-provider']);
  const hasUninitializedTaint = configuredTaints.some(
    ({ key, effect }) => key === UNINITIALIZED_TAINT.key && effect === UNINITIALIZED_TAINT.effect,
  );
  return hasCloudProvider && !hasUninitializedTaint ? [...configuredTaints, UNINITIALIZED_TAINT] : configuredTaints;
}
