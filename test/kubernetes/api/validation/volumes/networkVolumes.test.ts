import { expect, test } from '@jest/globals';
import type { Volume } from '../../../../../kubernetes/api/schema/volume.ts';
import { aPod, problemsIn } from '../../../fixtures.ts';

const at = 'spec.volumes[0]';
const problems = (source: Omit<Volume, 'name'>) =>
  problemsIn(aPod({ volumes: [{ name: 'v', ...source }] })).map(({ path, message }) => `${path}: ${message}`);
const required = (kind: string, ...fields: string[]) => fields.map((field) => `${at}.${kind}.${field}: Required value`);

test.each<[Omit<Volume, 'name'>, string[]]>([
  [{ gcePersistentDisk: { pdName: '' } }, required('persistentDisk', 'pdName')],
  [{ awsElasticBlockStore: { volumeID: '' } }, required('awsElasticBlockStore', 'volumeID')],
  [{ glusterfs: { endpoints: '', path: '' } }, required('glusterfs', 'endpoints', 'path')],
  [{ rbd: { monitors: [], image: '' } }, required('rbd', 'monitors', 'image')],
  [{ cinder: { volumeID: '', secretRef: {} } }, required('cinder', 'volumeID', 'secretRef.name')],
  [{ cephfs: { monitors: [] } }, required('cephfs', 'monitors')],
  [{ flexVolume: { driver: '' } }, required('flexVolume', 'driver')],
  [{ azureFile: { secretName: '', shareName: '' } }, required('azureFile', 'secretName', 'shareName')],
  [{ vsphereVolume: { volumePath: '' } }, required('vsphereVolume', 'volumePath')],
  [{ photonPersistentDisk: { pdID: '' } }, required('photonPersistentDisk', 'pdID')],
  [{ portworxVolume: { volumeID: '' } }, required('portworxVolume', 'volumeID')],
  [{ scaleIO: { gateway: '', system: '', secretRef: {} } }, required('scaleIO', 'gateway', 'system', 'volumeName')],
  [{ storageos: { secretRef: {} } }, required('storageos', 'volumeName', 'secretRef.name')],
  [{ csi: { driver: '', nodePublishSecretRef: {} } }, required('csi', 'driver', 'nodePublishSecretRef.name')],
])('a volume without required fields is rejected: %j', (source, expected) => {
  expect(problems(source)).toEqual(expected);
});

test('a partition is limited to 255, where 0 means none', () => {
  expect(problems({ awsElasticBlockStore: { volumeID: 'a', partition: 0 } })).toEqual([]);
  expect(problems({ awsElasticBlockStore: { volumeID: 'a', partition: 256 } })).toEqual([
    `${at}.awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and 255, inclusive`,
  ]);
});

test('an NFS export must have an absolute path', () => {
  expect(problems({ nfs: { server: 's', path: 'a' } })).toEqual([
    `${at}.nfs.path: Invalid value: "a": must be an absolute path`,
  ]);
});

test('three forms of iSCSI names are accepted, and authentication requires a secret', () => {
  const iscsi = { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:a', lun: 0 };
  expect(problems({ iscsi })).toEqual([]);
  expect(problems({ iscsi: { ...iscsi, iqn: 'iqn.x', lun: 256, chapAuthSession: true, initiatorName: 'a' } })).toEqual([
    `${at}.iscsi.iqn: Invalid value: "iqn.x": must be valid format`,
    `${at}.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`,
    `${at}.iscsi.secretRef: Required value`,
    `${at}.iscsi.initiatorname: Invalid value: "a": must be valid format starting with iqn, eui, or naa`,
  ]);
});

test('a Fibre Channel volume must have targets with a lun, or device IDs', () => {
  expect(problems({ fc: { wwids: ['a'] } })).toEqual([]);
  expect(problems({ fc: {} })).toEqual([
    `${at}.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both`,
  ]);
  expect(problems({ fc: { targetWWNs: ['a'] } })).toEqual([
    `${at}.fc.lun: Required value: lun is required if targetWWNs is specified`,
  ]);
});

test('a Flocker dataset must have exactly one name', () => {
  expect(problems({ flocker: { datasetName: 'a/b', datasetUUID: 'c' } })).toEqual([
    `${at}.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
    `${at}.flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
  ]);
});

test('driver options in the domain of Kubernetes are rejected', () => {
  expect(problems({ flexVolume: { driver: 'a/b', options: { 'x.k8s.io/a': '', 'example.com/a': '' } } })).toEqual([
    `${at}.flexVolume.options[x.k8s.io/a]: Invalid value: "x.k8s.io/a": kubernetes.io and k8s.io namespaces are reserved`,
  ]);
});

test('a Quobyte registry must consist of host:port pairs', () => {
  expect(problems({ quobyte: { registry: '[::1]:1,a:2', volume: 'v' } })).toEqual([]);
  expect(problems({ quobyte: { registry: 'a', volume: 'v' } })[0]).toMatch(
    /must be a host:port pair or multiple pairs/,
  );
});

test('the URI of an Azure disk must match its kind', () => {
  const azureDisk = { diskName: 'a', diskURI: 'b' };
  expect(problems({ azureDisk })).toEqual([
    `${at}.azureDisk.diskURI: Unsupported value: "b": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"`,
  ]);
  expect(problems({ azureDisk: { ...azureDisk, diskURI: '/subscriptions/a', kind: 'Managed' } })).toEqual([]);
});
