// GET /: the list of paths.

/** Outside the groups of the API. */
const otherPaths: readonly string[] = [
  '/.well-known/openid-configuration',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
];

export const isRoot = (path: string): boolean => path === '/' || path === '/index.html';

export function rootPaths(discovered: readonly string[]): { readonly paths: readonly string[] } {
  return { paths: [...discovered, ...otherPaths].sort() };
}
