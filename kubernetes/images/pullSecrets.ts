/** Reads registry credentials from a pod's image pull Secrets. */
import type { Pod } from '../api/schema/pod.ts';
import { type EventMessage, warning } from '../events/recordedEvent.ts';
import type { ConfigObject } from '../objects/configObject.ts';
import { type Keyring, readKeyring } from './keyring.ts';

/** Returns the names of the pod's image pull Secrets. Ignores empty names, which an API server accepts. */
export const pullSecretNames = ({ spec }: Pod): string[] =>
  (spec.imagePullSecrets ?? []).flatMap(({ name }) => (name ? [name] : []));

/** Key and format of the credentials in a Secret, by type of the Secret. */
const SECRET_FORMATS = new Map([
  ['kubernetes.io/dockerconfigjson', { key: '.dockerconfigjson', form: 'config.json' }],
  ['kubernetes.io/dockercfg', { key: '.dockercfg', form: '.dockercfg' }],
] as const);

/**
 * Returns the credentials in a Secret, or none if the Secret has a different type or no value. If the value is
 * unreadable, the error message does not quote it, because it could contain a password.
 */
export function keyringOfSecret({
  type,
  data,
  uid,
  namespace,
  name,
}: ConfigObject): Keyring | { readonly refusal: string } {
  const format = [...SECRET_FORMATS].find(([each]) => each === type)?.[1];
  const value = format && data.get(format.key);
  if (format === undefined || value === undefined || value.length === 0) return [];
  const keyring = readKeyring(value.toString(), format.form);
  if (keyring === undefined) {
    return { refusal: `secret "${name}": ${format.key} is not the configuration of docker that its type says` };
  }
  const source = { kind: 'secret' as const, uid, namespace, name };
  return keyring.map(([location, credential]) => [location, { ...credential, source }]);
}

/** Returns the kubelet's event for Secrets that could not be retrieved. */
export const missingSecretsEvents = (names: readonly string[]): EventMessage[] =>
  names.length === 0
    ? []
    : [
        warning(
          'FailedToRetrieveImagePullSecret',
          `Unable to retrieve some image pull secrets (${names.join(', ')}); attempting to pull the image may not succeed.`,
        ),
      ];
