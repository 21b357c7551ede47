/** Finds the credentials for a pod's images. Credentials from the pod's Secrets precede the node's. */

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

interface CredentialDependencies {
  readonly findCredentials: FindCredentials;
  /** Undefined if there is no source of Secrets, in which case references to Secrets are ignored. */
  readonly objects?: PodObjects | undefined;
  readonly tokens?: PodTokens | undefined;
  readonly findServiceAccount?: FindServiceAccount | undefined;
}

export interface PodCredentials {
  /** Returns the names of the pod's pull Secrets that cannot currently be read. */
  findMissingSecrets(pod: Pod, options: Abortable): Promise<readonly string[]>;
  /**
   * Returns the credentials to try for a repository, in order. Rejects if a Secret of the pod contains no credentials.
   */
  findCredentials(pod: Pod, repository: string, options: Abortable): Promise<readonly Credential[]>;
}

export function podCredentials({
  findCredentials,
  objects,
  tokens,
  findServiceAccount,
}: CredentialDependencies): PodCredentials {
  /**
   * Returns the pod's pull Secrets. A missing or unreadable Secret is represented by its name and does not prevent the
   * pull.
   */
  const readPullSecrets = async (pod: Pod, { signal }: Abortable): Promise<(ConfigObject | string)[]> => {
    if (objects === undefined) return [];
    const secretReads = pullSecretNames(pod).map((name) =>
      objects.get(pod, 'Secret', name, { signal }).catch(() => {
        signal.throwIfAborted();
        return name;
      }),
    );
    return Promise.all(secretReads);
  };
  return {
    findMissingSecrets: async (pod, options) =>
      (await readPullSecrets(pod, options)).filter((each) => typeof each === 'string'),
    findCredentials: async (pod, repository, { signal }) => {
      const secrets = (await readPullSecrets(pod, { signal })).filter((each) => typeof each !== 'string');
      const keyrings = secrets.map((secret) => {
        const secretKeyring = keyringOfSecret(secret);
        if ('refusal' in secretKeyring) throw new NodeFailure('ErrImagePull', secretKeyring.refusal);
        return secretKeyring;
      });
      const nodeCredentials = await findCredentials({ repository, pod, signal, tokens, findServiceAccount });
      return [...credentialsFor(repository, mergeKeyrings(keyrings)), ...nodeCredentials];
    },
  };
}
