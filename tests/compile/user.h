#ifndef USER_H
#define USER_H
#ifdef __cplusplus
extern "C" {
#endif
int use_from_c(chroprof *p);
int use_from_cpp(chroprof *p);
#ifdef __cplusplus
}
#endif
#endif
