import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { ClaimDevice, ClaimState } from '../../../kubernetes/claims/claimState.ts';
import { claimResourceStatuses, containerCdiIds } from '../../../kubernetes/claims/containerDevices.ts';
import { aContainer, aPod } from '../fixtures.ts';

const device = (deviceName: string, changes: Partial<ClaimDevice> = {}): ClaimDevice => ({
  poolName: 'pool',
  deviceName,
  requestNames: [],
  cdiIds: [`example.com/gpu=${deviceName}`],
  ...changes,
});

const claim = (name: string, devices: readonly ClaimDevice[]): ClaimState => ({
  uid: `uid-${name}`,
  name,
  namespace: 'default',
  podUids: [],
  drivers: [{ name: 'gpu.example.com', devices }],
  isPrepared: true,
});

const CLAIMS = [
  claim('gpu-1', [
    device('a', { requestNames: ['big'] }),
    device('b', { requestNames: ['small'] }),
    device('shared'),
    device('without-cdi', { cdiIds: [] }),
  ]),
  claim('nic-1', [device('eth')]),
];

function podWith(container: Container, status?: PodStatus): Pod {
  const pod = aPod({
    containers: [container],
    resourceClaims: [
      { name: 'gpu', resourceClaimName: 'gpu-1' },
      { name: 'nic', resourceClaimName: 'nic-1' },
    ],
  });
  return status === undefined ? pod : { ...pod, status };
}

const cdiIds = (resources: Container['resources'], status?: PodStatus) => {
  const container = aContainer(resources === undefined ? {} : { resources });
  const ids = containerCdiIds(podWith(container, status), container, (name) =>
    CLAIMS.find((each) => each.name === name),
  );
  return ids.map((id) => id.replace('example.com/gpu=', ''));
};

describe('C50: a container gets the devices', () => {
  test.each([
    ['of no claim that it does not name', {}, []],
    ['of all requests of a claim', { claims: [{ name: 'gpu' }] }, ['a', 'b', 'shared']],
    ['of the request that it names', { claims: [{ name: 'gpu', request: 'small' }] }, ['b', 'shared']],
    [
      'of several requests, each of them once',
      {
        claims: [
          { name: 'gpu', request: 'small' },
          { name: 'gpu', request: 'big' },
        ],
      },
      ['b', 'shared', 'a'],
    ],
    ['of several claims', { claims: [{ name: 'nic' }, { name: 'gpu', request: 'big' }] }, ['a', 'shared', 'eth']],
  ])('%s', (_, resources, expected) => {
    expect(cdiIds(resources)).toEqual(expected);
  });

  test('that were allocated for its extended resources', () => {
    const mapping = { containerName: 'main', resourceName: 'example.com/gpu', requestName: 'big' };
    const extendedResourceClaimStatus = {
      resourceClaimName: 'gpu-1',
      requestMappings: [
        mapping,
        { ...mapping, containerName: 'other', requestName: 'small' },
        { ...mapping, resourceName: 'example.com/unrequested', requestName: 'small' },
      ],
    };
    expect(cdiIds({ requests: { 'example.com/gpu': '1' } }, { extendedResourceClaimStatus })).toEqual(['a', 'shared']);
    expect(cdiIds({ requests: { 'example.com/gpu': '0' } }, { extendedResourceClaimStatus })).toEqual([]);
  });

  test('only after the claim has been prepared', () => {
    const container = aContainer({ resources: { claims: [{ name: 'gpu' }] } });
    expect(() => containerCdiIds(podWith(container), container, () => undefined)).toThrow(
      'internal error: unable to get claim info for ResourceClaim gpu-1 in namespace default',
    );
  });
});

describe('C50: the status of a container has the health', () => {
  const healths = (claims: NonNullable<Container['resources']>['claims'], devices: readonly ClaimDevice[]) => {
    const container = aContainer({ resources: { claims: claims ?? [] } });
    return claimResourceStatuses(podWith(container), container, [claim('gpu-1', devices)]);
  };
  const healthy = { status: 'Healthy', message: '' } as const;

  test('of each device of its claims, which is Unknown if the driver has not reported it', () => {
    const devices = [device('a', { health: healthy }), device('b', { cdiIds: [] })];
    expect(healths([{ name: 'gpu' }, { name: 'nic' }], devices)).toEqual([
      {
        name: 'claim:gpu',
        resources: [
          { resourceID: 'example.com/gpu=a', health: 'Healthy' },
          { resourceID: 'gpu.example.com/pool/b', health: 'Unknown' },
        ],
      },
    ]);
  });

  test('of the devices of the request that it names, with the message of the driver', () => {
    const unhealthy = { status: 'Unhealthy', message: 'too hot' } as const;
    const devices = [
      device('a', { requestNames: ['big'], health: unhealthy }),
      device('b', { requestNames: ['small'] }),
    ];
    expect(healths([{ name: 'gpu', request: 'big/first' }], devices)).toEqual([
      {
        name: 'claim:gpu/big/first',
        resources: [{ resourceID: 'example.com/gpu=a', health: 'Unhealthy', message: 'too hot' }],
      },
    ]);
  });

  test('of the device whose share it has, once for several shares', () => {
    const share = { health: healthy, cdiIds: [] };
    const shares = ['share-1', 'share-2'].map((shareId) => device('a', { ...share, shareId }));
    const [status] = healths([{ name: 'gpu' }], shares);
    expect(status?.resources).toEqual([{ resourceID: 'gpu.example.com/pool/a', health: 'Healthy' }]);
  });

  test('once for devices with the same CDI name', () => {
    const sameId = { cdiIds: ['example.com/gpu=all'] };
    const [status] = healths([{ name: 'gpu' }], [device('a', { ...sameId, health: healthy }), device('b', sameId)]);
    expect(status?.resources).toEqual([{ resourceID: 'example.com/gpu=all', health: 'Healthy' }]);
  });
});
