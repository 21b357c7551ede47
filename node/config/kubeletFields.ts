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

/** The fields of a KubeletConfiguration, each right by itself; made anew for whoever reads one: most never do it again. */
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

/** A configuration whose fields are right one by one. */
export type KubeletFields = z.output<ReturnType<typeof fields>>;
