import { describe, expect, test } from '@jest/globals';
import { withCloudAddresses, wrongCloudAnnotations } from '../../../kubernetes/node/cloud.ts';
import { registeredNode } from '../../../kubernetes/node/registeredNode.ts';
import { aNode } from '../nodes.ts';

const PROVIDED = 'alpha.kubernetes.io/provided-node-ip';
const HOSTNAME = { type: 'Hostname', address: 'host' };
const told = { providedIps: ['192.0.2.1', '2001:db8::1'], saysAddress: true };
const untold = { providedIps: [], saysAddress: false };

describe('C34: a node of a cloud', () => {
  test('says no address that it was not told, and what it was told to the controller as well', () => {
    expect(aNode({ cloud: untold }).status.addresses).toEqual([HOSTNAME]);
    const own = ['192.0.2.1', '2001:db8::1'].map((address) => ({ type: 'InternalIP', address }));
    expect(aNode({ cloud: told }).status.addresses).toEqual([...own, HOSTNAME]);
    const { annotations } = registeredNode(aNode({ cloud: told }), { attachesByController: true }).metadata;
    expect(annotations).toMatchObject({ [PROVIDED]: '192.0.2.1,2001:db8::1' });
    expect(
      registeredNode(aNode({ cloud: untold }), { attachesByController: true }).metadata.annotations,
    ).not.toHaveProperty([PROVIDED]);
  });

  test('leaves the addresses that its Node has', () => {
    const addresses = [{ type: 'ExternalIP', address: '198.51.100.7' }];
    expect(withCloudAddresses(aNode(), told, { addresses }).status.addresses).toEqual(addresses);
    for (const server of [{}, { addresses: [] }, { addresses: 'none' }])
      expect(withCloudAddresses(aNode(), told, server)).toEqual(aNode());
    expect(withCloudAddresses(aNode(), undefined, { addresses })).toEqual(aNode());
  });

  test('takes back what its controller was told when that is so no more', () => {
    const found = { [PROVIDED]: '192.0.2.9', other: 'stays' };
    expect(wrongCloudAnnotations(aNode(), found)).toEqual({ [PROVIDED]: null });
    expect(wrongCloudAnnotations(aNode({ cloud: untold }), found)).toEqual({ [PROVIDED]: null });
    expect(wrongCloudAnnotations(aNode({ cloud: told }), found)).toEqual({ [PROVIDED]: '192.0.2.1,2001:db8::1' });
    expect(wrongCloudAnnotations(aNode({ cloud: told }), { [PROVIDED]: '192.0.2.1,2001:db8::1' })).toEqual({});
    expect(wrongCloudAnnotations(aNode(), undefined)).toEqual({});
  });
});
