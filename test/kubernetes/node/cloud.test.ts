import { describe, expect, test } from '@jest/globals';
import { cloudAnnotationFixes, withCloudAddresses } from '../../../kubernetes/node/cloud.ts';
import { registeredNode } from '../../../kubernetes/node/registeredNode.ts';
import { aNode } from '../nodes.ts';

const PROVIDED = 'alpha.kubernetes.io/provided-node-ip';
const HOSTNAME = { type: 'Hostname', address: 'host' };
const cloud = { providedIps: ['192.0.2.1', '2001:db8::1'], reportsAddress: true };
const withoutAddresses = { providedIps: [], reportsAddress: false };

describe('C34: a node of a cloud provider', () => {
  test('reports only configured addresses, also in an annotation for the controller', () => {
    expect(aNode({ cloud: withoutAddresses }).status.addresses).toEqual([HOSTNAME]);
    const own = ['192.0.2.1', '2001:db8::1'].map((address) => ({ type: 'InternalIP', address }));
    expect(aNode({ cloud }).status.addresses).toEqual([...own, HOSTNAME]);
    const { annotations } = registeredNode(aNode({ cloud }), { attachesByController: true }).metadata;
    expect(annotations).toMatchObject({ [PROVIDED]: '192.0.2.1,2001:db8::1' });
    expect(
      registeredNode(aNode({ cloud: withoutAddresses }), { attachesByController: true }).metadata.annotations,
    ).not.toHaveProperty([PROVIDED]);
  });

  test('retains the addresses that its Node has', () => {
    const addresses = [{ type: 'ExternalIP', address: '198.51.100.7' }];
    expect(withCloudAddresses(aNode(), cloud, { addresses }).status.addresses).toEqual(addresses);
    for (const server of [{}, { addresses: [] }, { addresses: 'none' }])
      expect(withCloudAddresses(aNode(), cloud, server)).toEqual(aNode());
    expect(withCloudAddresses(aNode(), undefined, { addresses })).toEqual(aNode());
  });

  test('removes the annotation when the addresses are no longer configured', () => {
    const found = { [PROVIDED]: '192.0.2.9', other: 'stays' };
    expect(cloudAnnotationFixes(aNode(), found)).toEqual({ [PROVIDED]: null });
    expect(cloudAnnotationFixes(aNode({ cloud: withoutAddresses }), found)).toEqual({ [PROVIDED]: null });
    expect(cloudAnnotationFixes(aNode({ cloud }), found)).toEqual({ [PROVIDED]: '192.0.2.1,2001:db8::1' });
    expect(cloudAnnotationFixes(aNode({ cloud }), { [PROVIDED]: '192.0.2.1,2001:db8::1' })).toEqual({});
    expect(cloudAnnotationFixes(aNode(), undefined)).toEqual({});
  });
});
