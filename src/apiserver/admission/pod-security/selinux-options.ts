// SELinux labels: a few types of containers, and no user or role of one's own.
import {
  type CheckedPod,
  containersWith,
  plural,
  quoted,
  type RunCheck,
  settersText,
  settersViolation,
  sorted,
} from './check.ts';

type Options = NonNullable<NonNullable<CheckedPod['spec']['securityContext']>['seLinuxOptions']>;

export function seLinuxOptions(allowedTypes: readonly string[]): RunCheck {
  const isType = (type: string): boolean => type === '' || allowedTypes.includes(type);
  const isBad = ({ type = '', user = '', role = '' }: Options): boolean =>
    !isType(type) || user !== '' || role !== '';
  return (pod) => {
    const bad: Options[] = [];
    const collect = (options: Options | undefined): boolean => {
      if (options === undefined || !isBad(options)) return false;
      bad.push(options);
      return true;
    };
    const isPodBad = collect(pod.spec.securityContext?.seLinuxOptions);
    const names = containersWith(pod, (context) => collect(context.seLinuxOptions));
    const types = sorted(bad.map(({ type = '' }) => type).filter((type) => !isType(type)));
    const what = [
      ...(types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoted(types)}`] : []),
      ...(bad.some(({ user = '' }) => user !== '') ? ['user may not be set'] : []),
      ...(bad.some(({ role = '' }) => role !== '') ? ['role may not be set'] : []),
    ];
    const rest = `set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`;
    return settersViolation('seLinuxOptions', settersText(isPodBad, names), rest);
  };
}
