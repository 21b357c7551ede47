import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';

/** Returns a pull Secret with a user for each registry, or with a text in the place of a docker config. */
export function dockerSecret(name: string, users: Readonly<Record<string, string>> | string): ConfigObject {
  const auths = (given: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(given).map(([place, username]) => [place, { username, password: 'hunter2' }]));
  const text = typeof users === 'string' ? users : JSON.stringify({ auths: auths(users) });
  return {
    kind: 'Secret',
    namespace: 'default',
    name,
    uid: `uid-of-${name}`,
    resourceVersion: '1',
    isImmutable: false,
    type: 'kubernetes.io/dockerconfigjson',
    data: new Map([['.dockerconfigjson', Buffer.from(text)]]),
  };
}
