import { describe, expect, test } from '@jest/globals';
import { ImageClaims } from '../../../../actors/images/imageClaims.ts';
import { podCredentials } from '../../../../actors/images/podCredentials.ts';
import type { PullProofs } from '../../../../actors/images/pullProofs.ts';
import { imageServices } from '../../../../actors/services/images/imageServices.ts';
import { NodeFailure } from '../../../../base/failure.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import { Image, PullImageResponse } from '../../../../cri/generated/runtime.ts';
import type { Credential } from '../../../../kubernetes/images/keyring.ts';
import { ObjectNotFound, type PodObjects } from '../../../../kubernetes/objects/podObjects.ts';
import { node, pod } from '../../../cri/nodeAndPod.ts';
import { dockerSecret } from '../../images/dockerSecret.ts';

const options = { signal: new AbortController().signal };

interface World {
  /** The users in the node's own credentials. */
  readonly users?: readonly string[];
  /** The error of the registry for each user. Without one, the pull succeeds. */
  readonly pullErrors?: Readonly<Record<string, string>>;
  readonly objects?: PodObjects;
  readonly mustPull?: PullProofs['mustPull'];
}

function world({ users = [], pullErrors = {}, objects, mustPull = async () => false }: World) {
  const pullUsers: string[] = [];
  const proved: (Credential | undefined)[] = [];
  const cri = {
    pullImage: async ({ auth }) => {
      const user = auth?.username ?? '';
      pullUsers.push(user);
      const error = pullErrors[user];
      if (error !== undefined) throw new NodeFailure('RuntimeError', error);
      return PullImageResponse.fromPartial({ imageRef: 'sha256:1' });
    },
    imageStatus: async () => ({ image: Image.fromPartial({ id: 'sha256:1' }), info: {} }),
  } satisfies Pick<Cri, 'pullImage' | 'imageStatus'>;
  const findCredentials = async () => users.map((username) => ({ username, password: 'hunter2' }));
  const proofs: Pick<PullProofs, 'mustPull' | 'pull'> = {
    mustPull,
    pull: async (_, pull) => {
      const pulled = await pull();
      proved.push(pulled.credential);
      return pulled;
    },
  };
  const services = imageServices({
    // The services use no other calls of the runtime.
    cri: cri as unknown as Cri,
    clock: systemClock,
    node: () => node(),
    proofs,
    claims: new ImageClaims(),
    credentials: podCredentials({ findCredentials, objects }),
  });
  return { ...services, pullUsers, proved };
}

const secretsOf = (...names: readonly string[]) => pod({ imagePullSecrets: names.map((name) => ({ name })) });

async function pullIn(made: ReturnType<typeof world>, of = pod()) {
  const input = { pod: of, image: 'r.example/app:1', limitMs: undefined };
  const end = await made.pullImage(input, options).then(
    ({ imageRef }) => imageRef,
    (error: unknown) => (error instanceof NodeFailure ? `${error.reason}: ${error.message}` : String(error)),
  );
  return { pullUsers: made.pullUsers, end };
}

/** Pulls with the credentials of these users. The registry responds to each user with its error or with the image. */
const pullAs = (users: readonly string[], pullErrors: Readonly<Record<string, string>>) =>
  pullIn(world({ users, pullErrors }));

const objects: PodObjects = {
  get: async (_, kind, name) => {
    if (name === 'none') throw new ObjectNotFound(kind, name);
    return dockerSecret(name, name === 'broken' ? '{"auths": {"r.example": {"auth": "hunter2' : { 'r.example': name });
  },
};

test('C16: credentials are tried one after the other, and the pull is anonymous if there are none', async () => {
  expect(await pullAs([], {})).toEqual({ pullUsers: [''], end: 'sha256:1' });
  expect(await pullAs(['a', 'b', 'c'], { a: 'denied' })).toEqual({ pullUsers: ['a', 'b'], end: 'sha256:1' });
});

test('the errors of all credentials are reported together, without duplicates', async () => {
  const { end } = await pullAs(['a', 'b', 'c'], { a: 'denied', b: 'expired', c: 'denied' });
  expect(end).toBe('ErrImagePull: [denied, expired]');
  expect((await pullAs(['a', 'b'], { a: 'denied', b: 'denied' })).end).toBe('ErrImagePull: denied');
});

describe('C16: the pull Secrets of a pod', () => {
  test('are tried before the credentials of the node, and the successful one is recorded', async () => {
    const made = world({ users: ['node'], pullErrors: { one: 'denied' }, objects });
    expect(await pullIn(made, secretsOf('one', 'two'))).toEqual({ pullUsers: ['one', 'two'], end: 'sha256:1' });
    expect(made.proved).toMatchObject([{ source: { kind: 'secret', name: 'two' } }]);
  });

  test('that are missing cause a warning on each check of the image, and the pull continues without them', async () => {
    const made = world({ objects });
    const found = await made.findImage({ pod: secretsOf('none', '', 'one'), image: 'app', policy: undefined }, options);
    expect(found.warnings).toEqual([
      {
        eventType: 'Warning',
        reason: 'FailedToRetrieveImagePullSecret',
        message: 'Unable to retrieve some image pull secrets (none); attempting to pull the image may not succeed.',
      },
    ]);
    expect(await pullIn(made, secretsOf('none'))).toEqual({ pullUsers: [''], end: 'sha256:1' });
    expect(
      await made.findImage({ pod: secretsOf('one'), image: 'app', policy: undefined }, options),
    ).not.toHaveProperty('warnings');
  });

  test('that are invalid fail the pull, and the message does not reveal their content', async () => {
    const made = world({ objects });
    const { pullUsers, end } = await pullIn(made, secretsOf('broken'));
    expect(pullUsers).toEqual([]);
    expect(end).toBe(
      'ErrImagePull: secret "broken": .dockerconfigjson is not the configuration of docker that its type says',
    );
  });
});

test('C17: a present image requires a proof, unless it is pulled anyway', async () => {
  const proofInputs: string[] = [];
  const made = world({
    objects,
    users: ['node'],
    mustPull: async (found, credentials) => {
      proofInputs.push(found.image, found.imageRef, ...(await credentials()).map(({ username }) => username));
      return true;
    },
  });
  const look = { pod: secretsOf('one'), image: 'r.example/app:1', policy: 'IfNotPresent' };
  expect(await made.findImage(look, options)).toMatchObject({ imageRef: 'sha256:1', isUnproven: true });
  expect(proofInputs).toEqual(['r.example/app:1', 'sha256:1', 'one', 'node']);
  expect(await made.findImage({ ...look, policy: 'Always' }, options)).not.toHaveProperty('isUnproven');
  // An invalid Secret proves nothing.
  await made.findImage({ ...look, pod: secretsOf('broken') }, options);
  expect(proofInputs.slice(4)).toEqual(['r.example/app:1', 'sha256:1']);
});
