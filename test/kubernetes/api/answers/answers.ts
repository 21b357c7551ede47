/** Pods with the responses of a kube-apiserver 1.36, for all tests of pod validation. */
import metadata from './metadata.json' with { type: 'json' };
import staticPods from './staticPods.json' with { type: 'json' };

export interface Answer {
  readonly case: string;
  readonly pod: { readonly metadata: object; readonly spec: object };
  /** The message after "is invalid: ", or `accepted`. */
  readonly answer: string;
  /** The message for a static pod. Undefined if it is the same as for a pod of a cluster. */
  readonly ofManifest?: string | undefined;
}

const OF_MANIFESTS: ReadonlyMap<string, string> = new Map([
  [
    'overhead without class',
    'spec.overhead: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  ['resourceClaims', 'spec.resourceClaims: static pods may not reference resourceclaims'],
]);

const containers = [{ name: 'main', image: 'busybox:1' }];

// Safe cast: the inferred types of these files are unions of all of their entries.
const specs: readonly { case: string; spec: object; answer: string }[] = staticPods;
const metadatas: readonly { case: string; metadata: object; answer: string }[] = metadata;

export const answers: readonly Answer[] = [
  ...specs.map(({ case: title, spec, answer }) => ({
    case: title,
    pod: { metadata: { name: 'web' }, spec },
    answer,
    ofManifest: OF_MANIFESTS.get(title),
  })),
  ...metadatas.map(({ case: title, metadata: own, answer }) => ({
    case: title,
    pod: { metadata: { name: 'web', ...own }, spec: { containers } },
    answer,
  })),
];
