/** What the images of a pod are pulled with: its Secrets first, then what the node has of its own. */

import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type Credential, credentialsFor, mergeKeyrings } from '../../kubernetes/images/keyring.ts';
import { keyringOfSecret, pullSecretNames } from '../../kubernetes/images/pullSecrets.ts';
import type { ConfigObject } from '../../kubernetes/objects/configObject.ts';
import type { PodObjects, PodTokens } from '../../kubernetes/objects/podObjects.ts';
import type { FindCredentials, FindServiceAccount } from '../services/images/nodeCredentials.ts';

interface Abortable {
  readonly signal: AbortSignal;
}

interface CredentialParts {
  readonly findCredentials: FindCredentials;
  /** Absent: nobody has any objects, and what a pod names of them means nothing. */
  readonly objects?: PodObjects | undefined;
  readonly tokens?: PodTokens | undefined;
  readonly findServiceAccount?: FindServiceAccount | undefined;
}

export interface PodCredentials {
  /** The Secrets of a pod that cannot be had now, by their names. */
  missing(pod: Pod, options: Abortable): Promise<readonly string[]>;
  /** The credentials to try for a repository, one after the other; rejects where a Secret of the pod is no such thing. */
  find(pod: Pod, repository: string, options: Abortable): Promise<readonly Credential[]>;
}

export function podCredentials({
  findCredentials,
  objects,
  tokens,
  findServiceAccount,
}: CredentialParts): PodCredentials {
  /** What cannot be had is as good as what is not there: the pull goes on without it. */
  const secretsOf = async (pod: Pod, { signal }: Abortable): Promise<(ConfigObject | string)[]> => {
    if (objects === undefined) return [];
    const read = pullSecretNames(pod).map((name) =>
      objects.get(pod, 'Secret', name, { signal }).catch(() => {
        signal.throwIfAborted();
        return name;
      }),
    );
    return Promise.all(read);
  };
  return {
    missing: async (pod, options) => (await secretsOf(pod, options)).filter((each) => typeof each === 'string'),
    find: async (pod, repository, { signal }) => {
      const secrets = (await secretsOf(pod, { signal })).filter((each) => typeof each !== 'string');
      const keyrings = secrets.map((secret) => {
        const keyring = keyringOfSecret(secret);
        if ('refusal' in keyring) throw new NodeFailure('ErrImagePull', keyring.refusal);
        return keyring;
      });
      const own = await findCredentials({ repository, pod, signal, tokens, findServiceAccount });
      return [...credentialsFor(repository, mergeKeyrings(keyrings)), ...own];
    },
  };
}
