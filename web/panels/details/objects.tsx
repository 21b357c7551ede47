import type { Subject } from '../../model/details/headline.ts';
import { ErrorMessage } from '../errorMessage.tsx';
import { Loading } from '../loading.tsx';
import type { Panel } from '../panel.ts';
import { Conditions } from './conditions.tsx';
import { ObjectText } from './objectText.tsx';

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
  const { content, error } = object;
  const retry = () => {
    reading.objectRetries.value += 1;
  };
  return (
    <>
      {error !== undefined && <ErrorMessage message="Its manifest could not be read" cause={error} onRetry={retry} />}
      {content === undefined && error === undefined && <Loading />}
      {content && isWhole && <Conditions status={content.status} />}
      {content && <ObjectText title="Manifest" object={content.manifest} />}
      {content && isWhole && <ObjectText title="Status" object={content.status} />}
    </>
  );
}
