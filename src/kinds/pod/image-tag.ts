// The tag of an image reference, on which the default pull policy depends.

const pathComponent = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/;
const tagText = /^\w[\w.-]{0,127}$/;

/** `latest` without tag and digest; empty for a digest alone and for invalid references. */
export function imageTag(image: string): string {
  const [named = '', digest] = image.split('@', 2);
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const repository = colon < 0 ? named : named.slice(0, colon);
  if (!isRepository(repository)) return '';
  if (colon < 0) return digest === undefined ? 'latest' : '';
  const tag = named.slice(colon + 1);
  return tagText.test(tag) ? tag : '';
}

/** The default: Always for `latest`, otherwise IfNotPresent. */
export function defaultPullPolicy(image: string): string {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

function isRepository(repository: string): boolean {
  const components = repository.split('/');
  const [first = ''] = components;
  const path = components.length > 1 && isDomain(first) ? components.slice(1) : components;
  return path.every((component) => pathComponent.test(component));
}

function isDomain(component: string): boolean {
  return (
    /[.:]/.test(component) || component === 'localhost' || component !== component.toLowerCase()
  );
}
