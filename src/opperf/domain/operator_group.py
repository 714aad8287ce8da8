"""Which group an operator belongs to, by its name alone: products, convolutions, views, copies and so on.

Profiles name operators as their framework does (`aten::addmm`, AddmmBackward0, FullyConnected), suites as the
catalog or a dispatcher does (`linear`, `torch:aten::addmm`). One function takes all of these, so that rows of a
profile, of a suite and of a comparison can be put beside each other. A gradient belongs to the group of its operator.
"""

from __future__ import annotations

import re
from functools import cache

#: What no rule knows.
OTHER = "other"
#: Names are compared in lower case without underscores; `*` stands for anything. The first group that matches counts.
_WORDS = {
    "communication": "allreduce* allgather* reducescatter* broadcastcoalesced alltoall* barrier send recv psum",
    "compiled": "compiledfxgraph triton* *fusion* cppfused* torchdynamo*",
    "spectral": "*fft* stft istft",
    "sparse": "csr* *tocsr rowsparse* *sparse*",
    "quantization": "quantize* dequantize* fakequant* *quantized *fakequantize*",
    "images": """
        image* gridsampl* *upsample* *interpolate* pixelshuffle pixelunshuffle depthtospace spacetodepth
        resize resizebilinear resizenearest* bilinearsampler spatialtransformer roialign roipooling
    """,
    "losses": """
        *loss* *crossentropy* kldiv* nll* perplexity accuracy topkaccuracy f1score *meanabsoluteerror
        *meansquarederror negativeloglikelihood pearsoncorrelation *regressionoutput softmaxoutput
    """,
    "optimizer": """
        *adam *adamw *adagrad *sgd sgdmomentum *rmsprop *adadelta *lamb *ftrl nag signsgd signum* *adamupdate
        *adamwupdate *adagradupdate *sgdupdate *sgdmomupdate *sgdmomentumupdate *rmspropupdate *adadeltaupdate
        *lambupdate* *ftrlupdate *ftmlupdate *nagupdate *nagmomupdate signumupdate
    """,
    "random": """
        rand random* randn randint* randperm uniform* normal bernoulli* multinomial* exponential poisson
        geometric *kaiming* *xavier* truncatednormal truncnormal orthogonal shuffle *dropout* *sampling*
        sample* threefry* rngbitgenerator rngunifor* alphadropout philox*
    """,
    "recurrent": "*rnn* *lstm* *gru *grucell scan *selectivescan* *ssm* *stateupdate while",
    "attention": "*attention* *attn* flash* rotary* *rope *paged*",
    "convolutions": """
        conv convgeneral* *conv1d* *conv2d* *conv3d* *convolution* convrelu convbatchnorm* convtranspose*
        *causalconv* im2col col2im slowconv* thnnconv* *convnd*
    """,
    "products": """
        *matmul* *mm addmv mv *linear linearrelu lineargelu dot vdot batchdot dotgeneral outer ger addr einsum
        tensordot inner *gemm* *gemv fullyconnected kron syrk matrixvector bilinear khatrirao *xlacalldot
    """,
    "softmax": "*softmax* softmin",
    "normalizations": """
        *batchnorm* *layernorm* *rmsnorm* *groupnorm* *instancenorm* *l2normali* *weightnorm* lrn
        localresponsenorm normalize renorm *normalization*
    """,
    "pooling": "*pool*",
    "sorting": "sort argsort topk* searchsorted *unique* kthvalue msort bucketize topp* approxtopk",
    "reductions": """
        sum mean max min amax amin prod nansum nanprod nanmean norm variance var std varmean stdmean logsumexp
        argmax argmin all any aminmax cumsum cumprod cummax cummin logcumsumexp *vectornorm frobeniusnorm
        reducesum reducemax reducemin reduceprod reducemean reduceand reduceor reduce reduceprecision segment*
        bincount histogram histc median nanmedian countnonzero dist cdist cosinesimilarity trapz equalall
        sumtosize moments *allfinite multisumsq cumulative* foreachnorm linalgnorm
    """,
    "linear algebra": """
        linalg* cholesky* inverse* det determinant slogdet qr *svd* *eigh* eig solve *triangularsolve lstsq
        trace triu tril lu lufactor* pinverse matrixexp diag* logdet matrixpower cross
    """,
    "indexing": """
        index* take* gather* scatter* embedding* *embeddingbag* pick onehot where* maskedfill* maskedselect
        maskedscatter *ravelmultiindex unravelindex nonzero* getitem setitem put putalongaxis dynamicslice
        dynamicupdateslice *cache appendtocache *indexput* *unsafeindex* *unsafemaskedindex argwhere
        selectscatter slicescatter moegather moescatter topkrouting sequencemask sequencelast booleanmask
        slicelike resourcegather choosex fillelement* chooseelement*
    """,
    "views": """
        view viewas viewdtype unsafeview reshape* transpose* t numpyt permute* expand expandas expanddims
        slice* select squeeze* unsqueeze* split* chunk unbind narrow asstrided alias detach flatten unflatten
        swapaxes swapdims moveaxis movedim diagonal unfold *broadcastto *broadcastlike broadcastinplace
        broadcastindim broadcastaxi* real imag bitcast* bitcastconverttype viewasreal viewascomplex conj
        resolveconj resolveneg lift liftfresh shapearray sizearray shape size identity hsplit vsplit
        tensorsplit unpack reshapealias tuple gettupleelement ravel mt adjoint set atleast* broadcasttensors
        unsafesplit* unsafechunk
    """,
    "copies": """
        copy copyto copybatch clone contiguous to tocopy cast* ampcast toamp convertelementtype convert
        concat* cat stack* pad* *padnd constantpad* repeat* tile roll flip fliplr flipud reverse rev
        sequencereverse tonumpy item todevice localscalardense memcpy* memset* deviceput *reflectionpad*
        *replicationpad* rollaxis rot90 hstack vstack dstack pack fromnumpy makearrays devicecopy copies
        todtype float half bfloat16 todense identityn resize* typeas pinmemory blockdiag meshgrid columnstack
        rowstack
    """,
    "creation": """
        zeros* ones* full* empty* arange linspace logspace eye fill zero newzeros newones newfull newempty*
        scalartensor iota range const constant makediag tensor asarray array
    """,
    "elementwise": """
        abs* neg* exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt rcbrt square* reciprocal sin cos tan
        asin acos atan arcsin arccos arctan sinh cosh asinh acosh atanh arcsinh arccosh arctanh erf erfc
        erfinv clip clamp* degrees radians gammaln lgamma gamma digamma polygamma frac nantonum sign sgn
        floor* ceil round rint fix trunc* isnan isinf isfinite signbit logical* bitwise* add* sub* rsub mul*
        multiply* div* truediv* truedivide remainder* mod power pow integerpow maximum minimum hypot arctan2
        atan2 logaddexp* fmod copysign heaviside eq ne gt ge lt le equal* notequal* greater* less* lesser* and
        or xor not isclose left* right* lerp *addcmul *addcdiv relu* sigmoid tanh gelu silu swish mish
        leakyrelu* elu selu celu softplus softsign logsigmoid* hardsigmoid hardswish hardtanh hardshrink
        softshrink threshold prelu glu reglu swiglu geglu residualaddrelu biasgelu biasadd activation
        *penalty* sigmoidmul accumulate fmin fmax floatpower isin deg2rad rad2deg prelukernel rrelu*
        conjphysical positive angle complex polar smoothstep plus minus selectn nextafter logit sinc xlogy
        max* min* bernoulli ifelse
    """,
}
#: What some frameworks write around the name of an operator that does the same to each element.
_AROUND = re.compile(
    r"^(?:foreach|elemwise|elementwise|broadcast|mkldnn|onednn|cudnn|miopen|native|np|mhlo|stablehlo)+"
)
#: What a gradient's name has besides the operator's.
_GRADIENT = re.compile(r"(?:_backward\w*|_grad(?:ient)?(?:_(?:input|filter|weight|bias|v\d))*|_bw)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Za-z0-9])(?=Backward)")


#: The groups, in the order in which rules are tried.
GROUPS = (*_WORDS, OTHER)


@cache
def _rules() -> list[tuple[str, re.Pattern[str]]]:
    """Return for each group the pattern that matches its names whole: 6 ms that few commands wait for."""
    patterns = ("|".join(re.escape(word).replace(r"\*", ".*") for word in words.split()) for words in _WORDS.values())
    return list(zip(_WORDS, map(re.compile, patterns)))


@cache
def group_of(name: str) -> str:
    """Return the group of an operator, `other` where its name tells nothing.

    >>> [group_of(name) for name in ("aten::addmm", "ConvolutionBackward0", "torch:aten::add_.Tensor", "layer_norm")]
    ['products', 'convolutions', 'elementwise', 'normalizations']
    >>> [group_of(name) for name in ("aten::view", "mxnet:nd.FullyConnected", "aten::copy_", "my_kernel")]
    ['views', 'products', 'copies', 'other']
    """
    if name.startswith("c10d::"):
        return "communication"
    key = _key(name)
    bare = _AROUND.sub("", key)
    for group, pattern in _rules():
        if pattern.fullmatch(key) or pattern.fullmatch(bare):
            return group
    return OTHER


def _key(name: str) -> str:
    """Return a name as rules have it: without its namespace, its overload, and what makes it a gradient or in place."""
    if "::" in name:
        last = name.rpartition("::")[2].partition(".")[0]
    else:
        last = re.sub(r"\.\d+$", "", name.partition("/")[0]).rpartition(":")[2].rpartition(".")[2]
    snake = _CAMEL.sub("_", last).lower().strip("_")
    snake = snake.removesuffix("_inplace")
    return (_GRADIENT.sub("", snake) or snake).replace("_", "").replace("-", "")
