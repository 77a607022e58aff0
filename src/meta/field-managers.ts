// Names under which field managers write: what `metadata.managedFields[].manager` shows.
// Without one a client's field manager is the program in its User-Agent header.

/** What the API server writes on its own account. */
export const apiServerManager = 'kube-apiserver';
/** Default of `kubectl apply --server-side`; only for it the last-applied annotation is honoured. */
export const kubectlManager = 'kubectl';
/** `fairlead apply` and `fairlead demo`. */
export const cliManager = 'fairlead';
/** What `fairlead up` puts into the cluster itself. */
export const upManager = 'fairlead-up';
