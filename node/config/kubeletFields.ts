import type * as z from 'zod/mini';
import { oneOf, section } from './fields.ts';
import { eviction } from './parts/eviction.ts';
import { images } from './parts/images.ts';
import { logs } from './parts/logs.ts';
import { network } from './parts/network.ts';
import { node } from './parts/node.ts';
import { resources } from './parts/resources.ts';
import { runtime } from './parts/runtime.ts';
import { serving } from './parts/serving.ts';
import { sources } from './parts/sources.ts';

/** Creates the schema of the single fields of a KubeletConfiguration. Not cached, because most processes need it once at most. */
export const fields = () =>
  section({
    apiVersion: oneOf('kubelet.config.k8s.io/v1beta1'),
    kind: oneOf('KubeletConfiguration'),
    ...sources(),
    ...serving(),
    ...images(),
    ...runtime(),
    ...network(),
    ...resources(),
    ...eviction(),
    ...node(),
    ...logs(),
  });

/** A configuration with valid fields that may still break a rule over several fields. */
export type KubeletFields = z.output<ReturnType<typeof fields>>;
