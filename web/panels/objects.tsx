import type { Subject } from '../model/headline.ts';
import { Conditions } from './conditions.tsx';
import { Loading } from './loading.tsx';
import { ObjectText } from './objectText.tsx';
import type { Panel } from './panel.ts';
import { Trouble } from './trouble.tsx';

interface ObjectsProps extends Panel {
  readonly subject: Subject;
  readonly isWhole?: boolean;
}

/** The manifest and, on the pod page, the conditions and the status. */
export function Objects({ reading, subject, isWhole = false }: ObjectsProps) {
  const uid = subject.pod?.uid;
  if (uid === undefined) return <p class="sec dim">Only pods have a manifest.</p>;
  const { value: object } = reading.object;
  if (object?.uid !== uid) return <Loading />;
  const { shown, trouble } = object;
  const again = () => {
    reading.objectTries.value += 1;
  };
  return (
    <>
      {trouble !== undefined && <Trouble what="Its manifest could not be read" cause={trouble} again={again} />}
      {shown === undefined && trouble === undefined && <Loading />}
      {shown && isWhole && <Conditions status={shown.status} />}
      {shown && <ObjectText title="Manifest" object={shown.manifest} />}
      {shown && isWhole && <ObjectText title="Status" object={shown.status} />}
    </>
  );
}
