import { expect, test } from '@jest/globals';
import { CONTAINER_NAME_LABEL, labeledContainerName } from '../../../cri/config/labels.ts';
import { ContainerMetadata } from '../../../cri/generated/runtime.ts';

test('a container is named by its label or else by the runtime', () => {
  const metadata = ContainerMetadata.fromPartial({ name: 'k8s_main' });
  expect(labeledContainerName({ labels: { [CONTAINER_NAME_LABEL]: 'main' }, metadata })).toBe('main');
  expect(labeledContainerName({ labels: {}, metadata })).toBe('k8s_main');
  expect(labeledContainerName({ labels: {}, metadata: undefined })).toBe('');
});
