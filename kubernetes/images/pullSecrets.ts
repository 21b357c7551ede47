/** The credentials in the Secrets that a pod names for the pulls of its images. */
import type { Pod } from '../api/schema/pod.ts';
import { type EventMessage, warning } from '../events/recordedEvent.ts';
import type { ConfigObject } from '../objects/configObject.ts';
import { type Keyring, readKeyring } from './keyring.ts';

/** The Secrets that a pod names; an API server lets names be empty, and these mean nothing. */
export const pullSecretNames = ({ spec }: Pod): string[] =>
  (spec.imagePullSecrets ?? []).flatMap(({ name }) => (name ? [name] : []));

/** What holds credentials, by the type of the Secret. */
const FORMS = new Map([
  ['kubernetes.io/dockerconfigjson', { key: '.dockerconfigjson', form: 'config.json' }],
  ['kubernetes.io/dockercfg', { key: '.dockercfg', form: '.dockercfg' }],
] as const);

/**
 * The credentials in a Secret: none in one of another type, or without a value. Of what cannot be read it says only
 * that, as the words could quote a password.
 */
export function keyringOfSecret({
  type,
  data,
  uid,
  namespace,
  name,
}: ConfigObject): Keyring | { readonly refusal: string } {
  const known = [...FORMS].find(([each]) => each === type)?.[1];
  const value = known && data.get(known.key);
  if (known === undefined || value === undefined || value.length === 0) return [];
  const keyring = readKeyring(value.toString(), known.form);
  if (keyring === undefined) {
    return { refusal: `secret "${name}": ${known.key} is not the configuration of docker that its type says` };
  }
  const source = { kind: 'secret' as const, uid, namespace, name };
  return keyring.map(([place, credential]) => [place, { ...credential, source }]);
}

/** The kubelet's words about Secrets that cannot be had. */
export const secretsMissing = (names: readonly string[]): EventMessage[] =>
  names.length === 0
    ? []
    : [
        warning(
          'FailedToRetrieveImagePullSecret',
          `Unable to retrieve some image pull secrets (${names.join(', ')}); attempting to pull the image may not succeed.`,
        ),
      ];
