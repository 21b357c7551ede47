/** Manifests as users write them. */
import { NODE_NAME, PRESENT_IMAGE } from '../host/host.ts';

/** A manifest as plain JSON. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
  readonly spec: ManifestSpec;
}

interface ManifestMetadata {
  readonly name: string;
  readonly namespace?: string;
  /**
   * UID of the pod. If undefined, the node derives it from the contents, so that every change creates a different pod.
   */
  readonly uid?: string;
  readonly labels?: object;
  readonly annotations?: object;
}

export interface ManifestContainer {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly object[];
  readonly resources?: { readonly requests?: object; readonly limits?: object; readonly claims?: readonly object[] };
  readonly resizePolicy?: readonly object[];
  readonly volumeMounts?: readonly object[];
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly startupProbe?: object;
  readonly lifecycle?: { readonly postStart?: object; readonly preStop?: object };
  readonly env?: readonly object[];
  readonly envFrom?: readonly object[];
  readonly terminationMessagePolicy?: string;
}

export interface ManifestSpec {
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly ManifestContainer[];
  readonly initContainers?: readonly ManifestContainer[];
  readonly volumes?: readonly object[];
  readonly activeDeadlineSeconds?: number;
  readonly hostNetwork?: boolean;
  readonly runtimeClassName?: string;
  readonly shareProcessNamespace?: boolean;
  readonly resourceClaims?: readonly { readonly name: string; readonly resourceClaimName: string }[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly securityContext?: object;
}

/** Returns the full name of a static pod, which includes the name of the node. */
export const staticPodName = ({ metadata: { namespace, name } }: Pick<Manifest, 'metadata'>): string =>
  `${namespace ?? 'default'}/${name}-${NODE_NAME}`;

/** Returns the full name of a pod, given the full name or the name in its manifest. */
export const fullPodName = (pod: string): string =>
  pod.includes('/') ? pod : staticPodName({ metadata: { name: pod } });

/** Splits a full name into name and namespace. A name without a namespace, or a UID, is returned unchanged. */
export function nameAndNamespace(pod: string): readonly [string, string | undefined] {
  // Programs without type checking may pass anything.
  if (typeof pod !== 'string') throw new TypeError(`expected the name of a pod, got ${typeof pod}`);
  const [name = pod, namespace] = pod.split('/').toReversed();
  return [name, namespace];
}

/** Returns a manifest with a container `main` that runs until it is stopped. `spec` overrides the defaults. */
export function manifest(name: string, spec: Partial<ManifestSpec> = {}): Manifest {
  const always = { restartPolicy: 'Always', terminationGracePeriodSeconds: 5 };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { ...always, containers: [container('main')], ...spec },
  };
}

export const container = (name: string, more: Partial<ManifestContainer> = {}): ManifestContainer => ({
  name,
  image: PRESENT_IMAGE,
  ...more,
});
